// Runs before the first paint, so that the page does not appear in the other theme first.
(function () {
  let chosen = null;
  try {
    chosen = localStorage.getItem('earshot-theme');
  } catch {
    // Storage can be forbidden; then the system's theme applies.
  }
  const isDark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light');
})();
