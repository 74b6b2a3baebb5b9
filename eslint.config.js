import eslint from '@eslint/js'
import prettier from 'eslint-config-prettier'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['dist', 'fixtures', 'schemas', 'coverage', 'bench/results'] },
  eslint.configs.recommended,
  ...tseslint.configs.recommended,
  prettier,
  {
    languageOptions: {
      globals: {
        process: 'readonly',
        Buffer: 'readonly',
        URL: 'readonly',
        console: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
      },
    },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-redeclare': 'off',
      // Control characters are what this project looks for.
      'no-control-regex': 'off',
      eqeqeq: 'error',
      'prefer-const': 'error',
    },
  },
  {
    // What the HTML report runs in a browser; `tsc -p assets/report` knows which names there are.
    files: ['assets/**/*.js'],
    rules: { 'no-undef': 'off' },
  },
)
