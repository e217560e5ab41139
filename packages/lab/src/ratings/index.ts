/** Ratings that matches teach, and how close they come to true skill. */
export { createRatingBook, type PlayedTicket, type RatingBook, type RatingOptions } from './rating-book.js'
export { type RatingFigures, ratingSentences } from './rating-figures.js'
