"""
String kernel: which words share subsequences?
==============================================

Words that share subsequences are close in the space of the kernel, although they have no coordinates.
"""

import matplotlib.pyplot as plt

from surefit.kernels import StringSubsequence

words = ["science", "sciences", "conscience", "silence", "kernel", "kernels", "colonel"]
gram = StringSubsequence(3)(words)

figure, axes = plt.subplots(figsize=(5.6, 4.6), layout="constrained")
shown = axes.imshow(gram, cmap="Blues", vmin=0, vmax=1)
axes.set(xticks=range(7), yticks=range(7), yticklabels=words)
axes.set_xticks(range(7), words, rotation=45, ha="right")
for a in range(7):
    for b in range(7):
        axes.text(
            b, a, f"{gram[a, b]:.2f}", ha="center", va="center", fontsize=8, color="w" if gram[a, b] > 0.6 else "k"
        )
axes.set_title("Kernel values of words")
plt.show()
