import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Divides WebVTT files of playlists at times.
struct SubtitleClipTests {
    private func media(_ text: String) throws -> MediaPlaylist { try MediaPlaylist(parsing: Array(text.utf8)) }

    /// Returns the playlist of a file of 60 seconds.
    private func file(_ name: String = "t.vtt", tags: String = "", version: String = "") throws -> MediaPlaylist {
        try media("#EXTM3U\n\(version)#EXT-X-TARGETDURATION:60\n\(tags)#EXTINF:60,Title\n\(name)\n#EXT-X-ENDLIST\n")
    }

    private func divided(_ playlist: MediaPlaylist, at times: String...) throws -> String {
        let times = try times.map { try #require(MediaTime(decimal: $0)) }
        return try SubtitleDivision(of: playlist).divided(at: times, limits: PlaylistLimits()).editedText
    }

    private func divided(_ playlist: MediaPlaylist, every seconds: Int64) throws -> String {
        try SubtitleDivision(of: playlist).divided(every: seconds, limits: PlaylistLimits()).editedText
    }

    // MARK: URLs

    @Test(arguments: [
        ("http://h/en.vtt#t=0,10", "0...10"), ("http://h/en.webvtt#t=9.999,10", "9.999...10"),
        ("en.VTT?a=b#t=1,2", "1...2"), ("http://h/en.vtt#t=0.001,0.002", "0.001...0.002"),
    ])
    func clipIsTheFragmentOfAWebVTTFile(address: String, range: String) throws {
        let clip = try #require(SubtitleClip(of: ResourceAddress(address)))
        #expect(clip.range.description == range)
        #expect(address.hasSuffix("#\(clip.fragment)"))
    }

    @Test func clipWithoutAnEndHasTheRest() throws {
        let clip = try #require(SubtitleClip(of: ResourceAddress("en.vtt#t=5,")))
        #expect(clip.range.start == MediaTime(seconds: 5) && clip.range.end == MediaTimeRange.unbounded.end)
        #expect(clip.fragment == "t=5,")
    }

    @Test(arguments: [
        "http://h/video.mp4#t=0,10", "http://h/en.vtt.mp4#t=0,10", "http://h/vtt#t=0,10", "http://h/x?en.vtt#t=0,10",
        "en.vtt", "en.vtt#", "en.vtt#t=", "en.vtt#t=0", "en.vtt#t=,5", "en.vtt#t=-0.001,10", "en.vtt#t=-5,",
        "en.vtt#t=10,10",
        "en.vtt#t=10,9.999", "en.vtt#t=0,1,2", "en.vtt#t=0,10,", "en.vtt#t=x,10", "en.vtt#t=0,x", "en.vtt#x=0,10",
        "en.vtt#t0,10",
    ])
    func otherAddressesAreNoClips(address: String) { #expect(SubtitleClip(of: ResourceAddress(address)) == nil) }

    // MARK: Times

    @Test func fileIsDividedAtTimes() throws {
        #expect(
            try divided(file(), at: "30", "10")
                == "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:60\n#EXTINF:10,Title\nt.vtt#t=0,10\n"
                + "#EXTINF:20,\nt.vtt#t=10,30\n#EXTINF:30,\nt.vtt#t=30,\n#EXT-X-ENDLIST\n"
        )
    }

    /// Times at the ends of a file and outside of it divide nothing.
    @Test func timesAtTheEndsDivideNothing() throws {
        let whole =
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:60\n#EXTINF:60,Title\nt.vtt#t=0,\n#EXT-X-ENDLIST\n"
        #expect(try divided(file(), at: "0", "60", "70", "-1") == whole)
        let parts =
            "#EXTINF:0.001,Title\nt.vtt#t=0,0.001\n#EXTINF:59.998,\nt.vtt#t=0.001,59.999\n"
            + "#EXTINF:0.001,\nt.vtt#t=59.999,\n"
        let expected = whole.replacing("#EXTINF:60,Title\nt.vtt#t=0,\n", with: parts)
        #expect(try divided(file(), at: "0.001", "59.999") == expected)
    }

    /// Durations that are no whole seconds require version 3.
    @Test(arguments: [
        ("", "#EXT-X-VERSION:3\n"), ("#EXT-X-VERSION:1\n", "#EXT-X-VERSION:3\n"),
        ("#EXT-X-VERSION:2\n", "#EXT-X-VERSION:3\n"),
        ("#EXT-X-VERSION:3\n", "#EXT-X-VERSION:3\n"), ("#EXT-X-VERSION:4\n", "#EXT-X-VERSION:4\n"),
    ])
    func versionPermitsTheDurations(version: String, expected: String) throws {
        let text = try divided(file(version: version), at: "30")
        #expect(text.hasPrefix("#EXTM3U\n\(expected)#EXT-X-TARGETDURATION:60\n#EXTINF:30,Title\n"))
    }

    /// A part of a file is divided at its own time, and keeps its cues.
    @Test func partsOfAFileAreDivided() throws {
        let header = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:20\n"
        let playlist = try media(
            header + "#EXTINF:10,\nt.vtt#t=5,15\n#EXTINF:20,\nt.vtt#t=15,\n#EXT-X-ENDLIST\n"
        )
        #expect(
            try divided(playlist, at: "14", "10")
                == header
                + "#EXTINF:10,\nt.vtt#t=5,15\n#EXTINF:4,\nt.vtt#t=15,19\n#EXTINF:16,\nt.vtt#t=19,\n#EXT-X-ENDLIST\n"
        )
        #expect(
            try divided(playlist, at: "4")
                == header
                + "#EXTINF:4,\nt.vtt#t=5,9\n#EXTINF:6,\nt.vtt#t=9,15\n#EXTINF:20,\nt.vtt#t=15,\n#EXT-X-ENDLIST\n"
        )
    }

    /// Other files, encrypted ones, parts of files and gaps are unchanged.
    @Test(arguments: [
        ("t.mp4", ""), ("t.vtt#x", ""), ("t.mp4#t=0,60", ""), ("t.vtt", "#EXT-X-BYTERANGE:10@0\n"),
        ("t.vtt", "#EXT-X-GAP\n"),
        ("t.vtt", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"), ("t.vtt", "#EXT-X-MAP:URI=\"i\"\n"),
    ])
    func otherFilesAreUnchanged(name: String, tags: String) throws {
        let playlist = try file(name, tags: tags)
        #expect(try divided(playlist, at: "30") == playlist.editedText)
        #expect(try divided(playlist, every: 10) == playlist.editedText)
    }

    /// The cue times of several files are not known to be those of the presentation.
    @Test func severalFilesAreUnchanged() throws {
        let playlist = try media(
            "#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXTINF:60,\na.vtt\n#EXTINF:60,\nb.vtt\n#EXT-X-ENDLIST\n"
        )
        #expect(try divided(playlist, at: "30", "90") == playlist.editedText)
        #expect(try divided(playlist, every: 10) == playlist.editedText)
    }

    // MARK: Intervals

    @Test(
        arguments: [
            (60, nil), (61, nil), (59, ["59 0,59", "1 59,"]), (30, ["30 0,30", "30 30,"]),
            (25, ["25 0,25", "25 25,50", "10 50,"]),
        ] as [(Int64, [String]?)]
    )
    func fileIsDividedIntoIntervals(seconds: Int64, parts: [String]?) throws {
        let playlist = try file()
        guard let parts else {
            #expect(try divided(playlist, every: seconds) == playlist.editedText)
            return
        }
        var expected = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:\(seconds)\n"
        for (number, part) in parts.enumerated() {
            let fields = part.split(separator: " ")
            expected += "#EXTINF:\(fields[0]),\(number == 0 ? "Title" : "")\nt.vtt#t=\(fields[1])\n"
        }
        #expect(try divided(playlist, every: seconds) == expected + "#EXT-X-ENDLIST\n")
    }

    /// The target duration is not less than the duration of a segment that is not divided.
    @Test(arguments: [("14.5", 15), ("14.499", 14), ("10", 10), ("9", 10)])
    func targetDurationIsThatOfTheLongestSegment(duration: String, target: Int) throws {
        let playlist = try media(
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:23\n#EXTINF:22.5,\nen.vtt\n#EXT-X-DISCONTINUITY\n"
                + "#EXTINF:\(duration),\na.vtt\n#EXTINF:9,\nb.vtt\n#EXT-X-ENDLIST\n"
        )
        let first = "#EXTINF:10,\nen.vtt#t=0,10\n#EXTINF:10,\nen.vtt#t=10,20\n#EXTINF:2.5,\nen.vtt#t=20,\n"
        let rest = "#EXT-X-DISCONTINUITY\n#EXTINF:\(duration),\na.vtt\n#EXTINF:9,\nb.vtt\n#EXT-X-ENDLIST\n"
        let expected = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:\(target)\n\(first)\(rest)"
        #expect(try divided(playlist, every: 10) == expected)
    }

    /// The parts of a file are divided again.
    @Test func longPartsAreDividedIntoIntervals() throws {
        let playlist = try media(
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:15\n#EXTINF:15,\nt.vtt#t=100,115\n#EXTINF:5,\nt.vtt#t=115,\n"
        )
        #expect(
            try divided(playlist, every: 10)
                == "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nt.vtt#t=100,110\n"
                + "#EXTINF:5,\nt.vtt#t=110,115\n#EXTINF:5,\nt.vtt#t=115,\n"
        )
    }

    /// A file that would have too many parts is refused before it is divided.
    @Test func numberOfPartsIsLimited() throws {
        let division = SubtitleDivision(of: try file())
        let limits = PlaylistLimits(entryCount: 1)
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(1))) {
            try division.divided(every: 10, limits: limits)
        }
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(1_000))) {
            try SubtitleDivision(of: media("#EXTM3U\n#EXTINF:900000000,\nt.vtt\n"))
                .divided(every: 1, limits: PlaylistLimits(entryCount: 1_000))
        }
    }
}
