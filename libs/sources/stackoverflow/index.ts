export { createStackoverflowConnector, type StackoverflowSettings } from './connector.js';
export { parseAnswers, parseQuestions, type PostPage } from './parse.js';
