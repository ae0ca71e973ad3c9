// Runs before the first paint, so that a chosen theme does not flash in the other one.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem('earshot-theme');
  } catch {
    // Storage can be forbidden; then the system's theme applies.
  }
  var isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light');
})();
