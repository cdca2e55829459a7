"""Text that is special to spreadsheets, XML, terminals and HTML pages."""

HOSTILE = '=HYPERLINK("http://x") </testcase>]]>&\x00\x1b[2J\ufffe\n<script>é日'
