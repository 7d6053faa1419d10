"""All experiments: python -m papers [--full] [--only pegasos_2011 sbp_2012.figure_2]."""

from papers.harness.run import main

main()
