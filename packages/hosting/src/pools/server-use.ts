/**
 * For whom a server is listed, or is to be:
 * - `started`: players have started it;
 * - `seated`: players were given seats on it;
 * - `claimed`: for players of whom only the server says that they are on it;
 * - `empty`: for nobody yet.
 */
export type ServerUse = 'started' | 'seated' | 'claimed' | 'empty'
