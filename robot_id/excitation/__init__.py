"""Exciting motions: families, criteria, limits kept by construction, clearance, search."""

# Kinds of motion, see `family.make_family`.
FAMILIES = ('fourier', 'quintic')
# What `criteria/<name>.py` minimises, for help texts: a new criterion is a file and a line here.
CRITERION_TEXTS = {
    'condition': 'cond(W)',
    'weighted': 'cond(Phi), Phi = W diag(chi_bar), eq. 9 of paper 004',
    'determinant': 'D-optimality: det(Phi^T Phi)^(-1/2b)',
}
