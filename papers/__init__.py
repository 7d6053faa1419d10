"""Every table and figure of five papers, made again with `pegasos`: one small file each.

pegasos_2011   Shalev-Shwartz, Singer, Srebro, Cotter. Math. Programming 127(1), 2011.
pegasos_2007   Shalev-Shwartz, Singer, Srebro. ICML 2007.
sbp_2012       Cotter, Shalev-Shwartz, Srebro. Kernelized stochastic batch perceptron. ICML 2012.
sgd_2013       Panagiotakopoulos, Tsampouka. The stochastic gradient descent for the primal L1-SVM
               optimization revisited. ECML PKDD 2013.
oco_2020       Chor. On Pegasos and first order optimizers for online convex optimization. 2020.

A file declares what its paper claims, measures, and judges each claim by what was measured. All of
them: `python -m papers` (quick) or `python -m papers --full`; one: `python -m
papers.pegasos_2011.figure_4`. Pages: docs/papers/<paper>/index.md.
"""

PAPERS = {
    "pegasos_2011": (
        "Pegasos: primal estimated sub-gradient solver for SVM (2011)",
        ("section_1", "table_1", "figure_4", "table_2", "table_3", "figure_5", "figure_6")
        + ("figure_7", "figure_8", "figure_9"),
    ),
    "pegasos_2007": (
        "Pegasos: primal estimated sub-gradient solver for SVM (ICML 2007)",
        ("headline", "batch_size", "projection"),
    ),
    "sbp_2012": (
        "The kernelized stochastic batch perceptron (2012)",
        ("figure_1", "figure_2", "figure_3", "figure_4", "runtime"),
    ),
    "sgd_2013": (
        "The stochastic gradient descent for the primal L1-SVM optimization revisited (2013)",
        tuple(f"table_{k}" for k in range(1, 9)),
    ),
    "oco_2020": (
        "On Pegasos and first order optimizers for online convex optimization (2020)",
        ("figure_3_1", "figure_3_2", "figure_3_3", "figure_3_4"),
    ),
}
