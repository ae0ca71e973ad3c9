/** A field for several texts, in a file of its own: it is large, and the first view does without it. */
export { TagsInput as default } from '@mantine/core';
