import DefaultTheme from 'vitepress/theme'
import MermaidDrawing from './MermaidDrawing.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('MermaidDrawing', MermaidDrawing),
}
