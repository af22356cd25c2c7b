"""What people read: tables, plots, the HTML report, the papers' tables rebuilt."""
