import { NavLink } from 'react-router';
import { NAVIGATION } from './navigation.js';
import classes from './shell.module.css';

/** The links of the navigation. */
export function Navigation() {
  return NAVIGATION.map(({ label, entries }) => (
    <div key={label} role="group" aria-label={label}>
      <div className={classes.group} aria-hidden>
        {label}
      </div>
      {entries.map(({ to, label: name, icon: Icon }) => (
        <NavLink key={to} to={to} className={classes.link}>
          <Icon size={17} strokeWidth={1.9} aria-hidden />
          {name}
        </NavLink>
      ))}
    </div>
  ));
}
