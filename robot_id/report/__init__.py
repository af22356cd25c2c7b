"""Reports: tables, plots, the HTML report, the papers' tables."""
