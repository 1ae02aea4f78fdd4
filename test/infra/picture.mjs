/** Stands for the address of a picture of the console in tests. */
export default '/picture.svg';
