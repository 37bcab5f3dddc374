# plot.gp - millions of records a second, a cluster of bars for each input.
#
# recbench puts in front of this: `heading`, `methods` (how many), and the table $data, whose
# columns are a label, then median, least and most of each method; "-" where there is none.
# The grey of text and lines is readable on light and dark pages.
set terminal svg size 1100,600 font "sans-serif,13" noenhanced
set datafile missing "-"
set title heading textcolor rgb "#7d8590"
set ylabel "million records a second; higher is better" textcolor rgb "#7d8590"
set yrange [0:*]
set border 3 lc rgb "#7d8590"
set bmargin 4.5
set tics nomirror textcolor rgb "#7d8590"
set style data histograms
set style histogram errorbars gap 1 lw 1
set style fill solid 1 border lc rgb "#7d8590"
set key outside top center horizontal autotitle columnhead textcolor rgb "#7d8590"
set linetype 1 lc rgb "#1f6feb"
set linetype 2 lc rgb "#bf8700"
set linetype 3 lc rgb "#8c959f"
set linetype 4 lc rgb "#1a7f64"
set linetype 5 lc rgb "#a371f7"
set linetype 6 lc rgb "#cf5c4a"
set linetype cycle 6
plot for [m = 1:methods] $data \
  using (column(3 * m - 1)):(column(3 * m)):(column(3 * m + 1)):xtic(1) title columnhead(3 * m - 1), \
  for [m = 1:methods] $data \
  using ($0 + (m - 0.5 * (methods + 1)) / (methods + 1)):(column(3 * m + 1)):(sprintf("%.3g", column(3 * m - 1))) \
  with labels offset 0, 0.6 font ",10" textcolor rgb "#7d8590" notitle
