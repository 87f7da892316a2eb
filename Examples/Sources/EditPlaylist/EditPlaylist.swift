import HLSPlaylist
import MediaTiming
import PlaylistEditing

// The code of the article "Editing playlists".

func playlist(of count: Int, named name: String, lasting digits: String) throws -> MediaPlaylist {
    var text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n# kept as it is\n"
    for number in 0..<count { text += "#EXTINF:\(digits),\n\(name)\(number).ts\n" }
    return try MediaPlaylist(parsing: Array((text + "#EXT-X-ENDLIST\n").utf8))
}

let film = try playlist(of: 11, named: "film", lasting: "9.97667")
let advertisement = try playlist(of: 5, named: "advertisement", lasting: "4.0")

let preview = try film.limited(to: MediaTime(seconds: 30))
print(preview.duration)  // 29.93001: three whole segments

let stitched = try preview.appending(advertisement)
print(stitched.segments.count, stitched.segments[3].hasDiscontinuity)

let plan = EditPlan([.duration(MediaTime(seconds: 30)), .absolute])
let edited = try plan.applied(to: film)
print(String(decoding: edited.bytes, as: UTF8.self))

let withoutDates = CustomEdit(
    "without-dates",
    title: "Without dates",
    summary: "Remove the dates of segments.",
    media: { playlist, _ in
        try EditPlan([.stripTags(["EXT-X-PROGRAM-DATE-TIME"])]).applied(to: playlist)
    }
)
try PlaylistEdit.register(withoutDates)
print(try EditPlan([PlaylistEdit(name: "without-dates", value: "")]).applied(to: film).bytes.count)

let canonical = try Playlist.media(film).canonical()
print(canonical.bytes.count < film.bytes.count)  // true: comments are removed
