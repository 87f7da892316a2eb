import HLSPlaylist

// The code of the article "Following live playlists".

func version(from first: Int, to last: Int) -> [UInt8] {
    var text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
    text += "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\n"
    for number in first...last { text += "#EXTINF:4,\n\(number).ts\n" }
    return Array(text.utf8)
}

let update = """
    #EXTM3U
    #EXT-X-VERSION:9
    #EXT-X-TARGETDURATION:4
    #EXT-X-MEDIA-SEQUENCE:102
    #EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24
    #EXT-X-SKIP:SKIPPED-SEGMENTS=9
    #EXTINF:4,
    111.ts

    """

var playlist = try MediaPlaylist(parsing: version(from: 100, to: 109))

// A full reload: unchanged lines are not parsed again.
playlist = try MediaPlaylist(parsing: version(from: 101, to: 110), after: playlist)
print(playlist.segments.first?.uri ?? "", playlist.segments.last?.uri ?? "")  // 101.ts 110.ts

// A delta update: the skipped segments are taken from the previous playlist.
do {
    playlist = try playlist.applying(MediaPlaylist(parsing: Array(update.utf8)))
    print(playlist.segments.count, playlist.segments[9].sequence)  // 10 111
} catch let error as PlaylistUpdateError {
    print("reload the full playlist: \(error)")
}
