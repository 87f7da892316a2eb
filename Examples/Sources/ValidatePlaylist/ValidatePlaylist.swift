import HLSPlaylist

// The code of the article "Validating playlists".

let text = """
    #EXTM3U
    #EXT-X-VERSION:3
    #EXTINF:6.006
    a.ts
    #EXT-X-STREAM-INF:BANDWIDTH=1

    """
let playlist = try Playlist.parse(Array(text.utf8))

for finding in playlist.validated(against: [.rfc, .apple]) where finding.severity == .error {
    print(finding.line ?? 0, finding.code, finding.message, finding.section)
}

let rule = ValidationRule.all.first { $0.id == "missing-target-duration" }
print(rule?.statement ?? "", rule?.section ?? "")

print(playlist.minimumVersion)  // 3: EXTINF has decimals

do {
    _ = try Playlist.parse(Array("<html>".utf8))
} catch {
    print(error)  // a web page, not an HLS playlist
}

let limits = PlaylistLimits(byteCount: 1 << 20, lineLength: 4096, entryCount: 10_000)
_ = try Playlist.parse(Array(text.utf8), limits: limits)
