/** A field for several texts. It has its own file because its code is large, and the first view does not need it. */
export { TagsInput as default } from '@mantine/core';
