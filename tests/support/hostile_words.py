"""Words that mean something to a spreadsheet, to XML, to a terminal and to a page."""

HOSTILE = '=HYPERLINK("http://x") </testcase>]]>&\x00\x1b[2J\ufffe\n<script>é日'
