"""Plotting (Display classes): ``XDisplay.from_...`` collects the data, ``plot(ax)`` draws them (needs matplotlib)."""

from surefit.plots.bias_variance import BiasVarianceDisplay, DartboardDisplay
from surefit.plots.clusters import ElbowDisplay, SilhouetteDisplay
from surefit.plots.curves import CurveDisplay, StructureDisplay
from surefit.plots.degrees import DegreeDisplay
from surefit.plots.discriminants import FisherDisplay
from surefit.plots.ensembles import BoostingCurvesDisplay, MarginDistributionDisplay
from surefit.plots.estimation_picture import EstimationPictureDisplay
from surefit.plots.gap import GapDisplay
from surefit.plots.impurity import ImpurityDisplay, SplitCurveDisplay
from surefit.plots.kernels import GramDisplay
from surefit.plots.optimizers import DescentDisplay, StepSizeDisplay
from surefit.plots.path import PathDisplay
from surefit.plots.perceptrons import MarginHistogramDisplay, MistakeBoundDisplay, UpdatePathDisplay
from surefit.plots.risk import RiskDisplay
from surefit.plots.svm import SVCDisplay, SVCPathDisplay, TubeDisplay
from surefit.plots.trees import PruningCurveDisplay, TreeBoxesDisplay, TreeDisplay

__all__ = [
    "BiasVarianceDisplay",
    "BoostingCurvesDisplay",
    "CurveDisplay",
    "DartboardDisplay",
    "DegreeDisplay",
    "DescentDisplay",
    "ElbowDisplay",
    "EstimationPictureDisplay",
    "FisherDisplay",
    "GapDisplay",
    "GramDisplay",
    "ImpurityDisplay",
    "MarginDistributionDisplay",
    "MarginHistogramDisplay",
    "MistakeBoundDisplay",
    "PathDisplay",
    "PruningCurveDisplay",
    "RiskDisplay",
    "SVCDisplay",
    "SVCPathDisplay",
    "SilhouetteDisplay",
    "SplitCurveDisplay",
    "StepSizeDisplay",
    "StructureDisplay",
    "TreeBoxesDisplay",
    "TreeDisplay",
    "TubeDisplay",
    "UpdatePathDisplay",
]
