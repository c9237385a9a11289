"""Training of feed-forward networks: activations, links, back-propagation and the steps that use its gradients."""
