#!/usr/bin/env python3
"""What the files of a release contain, as SPDX 2.3 in JSON, on standard output.

Usage: sbom.py VERSION FOLDER       SOURCE_DATE_EPOCH is its date
"""
import hashlib
import json
import os
import sys
import time
from pathlib import Path

LIBYAML = {'name': 'libyaml', 'version': '0.2.5', 'license': 'MIT'}  # tools/python/wheels.sh puts it into the Python package
CUDART = {'name': 'cudart-static', 'version': 'NOASSERTION', 'license': 'LicenseRef-NVIDIA-CUDA-EULA'}  # of the nvcc that built the plugin


def parts_of(path):
    """Of others, what a file has in it."""
    if 'cuda' in path.name:
        return [CUDART]
    return [LIBYAML] if path.parent.name == 'python' else []


def main():
    version, folder = sys.argv[1], Path(sys.argv[2])
    packages, relations = {}, []

    def add(name, number, license_, **more):
        key = 'SPDXRef-' + ''.join(c if c.isalnum() or c in '.-' else '-' for c in f'{name}-{number}')
        packages[key] = {'SPDXID': key, 'name': name, 'versionInfo': number, 'licenseConcluded': license_, 'licenseDeclared': license_,
                         'downloadLocation': 'NOASSERTION', 'copyrightText': 'NOASSERTION', 'filesAnalyzed': False, **more}
        return key

    for path in sorted(path for path in folder.rglob('*') if path.is_file()):
        key = add(path.name, version, 'MIT', checksums=[
            {'algorithm': 'SHA256', 'checksumValue': hashlib.sha256(path.read_bytes()).hexdigest()}])
        relations.append(('SPDXRef-DOCUMENT', 'DESCRIBES', key))
        for part in parts_of(path):
            relations.append((key, 'CONTAINS', add(part['name'], part['version'], part['license'])))
    created = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(int(os.environ['SOURCE_DATE_EPOCH'])))
    json.dump({'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'recsort-{version}',
               'documentNamespace': f'https://recsort.invalid/spdx/{version}',
               'creationInfo': {'created': created, 'creators': ['Tool: tools/sbom.py']},
               'hasExtractedLicensingInfos': [{'licenseId': CUDART['license'], 'extractedText': "NVIDIA's End User License Agreement of "
                                               'the CUDA Toolkit'}],
               'packages': list(packages.values()),
               'relationships': [{'spdxElementId': a, 'relationshipType': kind, 'relatedSpdxElement': b} for a, kind, b in relations]},
              sys.stdout, indent=1)


if __name__ == '__main__':
    sys.exit(main())
