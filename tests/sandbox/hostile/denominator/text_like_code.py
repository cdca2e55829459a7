print("__import__('os').system('touch hostile-left') or {{7*7}} ${7*7} %n%s%x\n[bold]x[/bold]<script>")
