import subprocess

FORGED = '{"forged": true}\n'

def tamper(*paths):
    """Whatever a user can do to a file by its path. None of it has to succeed, and none of it must have an effect."""
    def add(path):
        with open(path, 'a') as file:
            file.write(FORGED)

    def over(path):
        other = path + '.forged'
        with open(other, 'w') as file:
            file.write(FORGED)
        os.rename(other, path)

    def linked(path):
        os.link(path, path + '.linked')
        add(path + '.linked')

    def by_symlink(path):
        os.symlink(path, path + '.symlink')
        add(path + '.symlink')

    def from_inside(path):
        folder, name = os.path.split(path)
        script = '''umount "$1/$2"; umount -l "$1/$2"; echo forged >> "$1/$2"
                    mount --bind "$1" /mnt && echo forged >> "/mnt/$2"
                    mount -t tmpfs none /mnt && mkdir /mnt/a /mnt/b /mnt/c &&
                    mount -t overlay none -o "lowerdir=$1,upperdir=/mnt/a,workdir=/mnt/b" /mnt/c && rm "/mnt/c/$2"'''
        subprocess.run(['unshare', '-Urm', 'sh', '-c', script, 'sh', folder, name], stderr=subprocess.DEVNULL)

    for path in paths:
        for attempt in (
            lambda path: os.chmod(path, 0o666),
            add,
            lambda path: add('/proc/self/root' + path),
            lambda path: os.truncate(path, 0),
            lambda path: open(path, 'w').close(),
            lambda path: subprocess.run(['umount', path], stderr=subprocess.DEVNULL),
            from_inside,
            over,
            linked,
            by_symlink,
            lambda path: os.rename(path, path + '.away'),
            os.remove,
            add,
        ):
            try:
                attempt(path)
            except OSError:
                pass
