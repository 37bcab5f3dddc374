# plot.gp - millions of records a second, a cluster of bars for each input.
#
# recbench puts in front of this: `heading`, `methods` (how many), and the table $data, whose
# columns are a label, then median, least and most of each method; "-" where there is none.
set terminal svg size 1100,600 font "sans-serif,13" background "white"
set datafile missing "-"
set title heading noenhanced
set ylabel "million records a second"
set yrange [0:*]
set grid ytics lc rgb "#dddddd"
set border 3
set bmargin 4.5
set tics nomirror
set style data histograms
set style histogram errorbars gap 1 lw 1
set style fill solid 0.85 border lc rgb "#333333"
set key outside top center horizontal noenhanced autotitle columnhead
set xtics noenhanced
plot for [m = 1:methods] $data \
  using (column(3 * m - 1)):(column(3 * m)):(column(3 * m + 1)):xtic(1) title columnhead(3 * m - 1)
