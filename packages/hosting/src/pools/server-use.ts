/**
 * Why a server is or will be listed:
 * - `started`: players have started it;
 * - `seated`: players were given seats on it;
 * - `claimed`: only the server reports that players are on it;
 * - `empty`: nobody is on it yet.
 */
export type ServerUse = 'started' | 'seated' | 'claimed' | 'empty'
