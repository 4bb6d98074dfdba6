"""How much of a suite its verdicts rest on: reliability, coarse-to-fine ranks, anchors."""
