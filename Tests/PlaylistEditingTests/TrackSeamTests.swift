import HLSPlaylist
import MediaTiming
import PlaylistEditing
import Testing

/// Tests that all tracks of a presentation have the same discontinuities where they are cut, for segments of any
/// duration.
@Suite struct TrackSeamTests {
    /// Returns a media playlist of segments of one duration.
    ///
    /// - Parameters:
    ///   - seconds: The duration of a segment.
    ///   - total: The duration of the playlist; the last segment may be shorter.
    ///   - discontinuities: The times at which a segment begins with a discontinuity.
    ///   - isEvent: Whether the playlist is of the type `EVENT`.
    /// - Returns: The text of the playlist.
    private static func media(
        _ seconds: Int,
        total: Int = 60,
        discontinuities: [Int] = [],
        isEvent: Bool = false
    ) -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n" + (isEvent ? "#EXT-X-PLAYLIST-TYPE:EVENT\n" : "")
        var time = 0
        while time < total {
            let next = discontinuities.first { $0 > time } ?? total
            let duration = min(seconds, next - time)
            if discontinuities.contains(time) { text += "#EXT-X-DISCONTINUITY\n" }
            text += "#EXTINF:\(duration),\n\(time)\n"
            time += duration
        }
        return text + (isEvent ? "" : "#EXT-X-ENDLIST\n")
    }

    private static let film = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",DEFAULT=YES,URI="audio"
        #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360,AUDIO="a"
        video

        """

    /// Returns the video and the audio after edits.
    private func edited(
        _ edits: [(String, String)],
        video: String = media(2),
        audio: String = media(10)
    ) async throws -> (video: MediaPlaylist, audio: MediaPlaylist) {
        let texts = [
            EditedTracks.address: Self.film, "https://h/video": video, "https://h/audio": audio,
            "https://ads/ad": Self.media(5, total: 10),
        ]
        let tracks = try await EditedTracks(texts, edits.map { try PlaylistEdit(name: $0.0, value: $0.1) })
        return (try tracks.track("video"), try tracks.track("audio"))
    }

    /// Returns the discontinuity sequence numbers and the URIs of the segments, such as `0:0 1:4`.
    private func spelled(_ playlist: MediaPlaylist) -> String {
        playlist.segments.map { segment in
            "\(segment.discontinuitySequence):" + (segment.uri.hasPrefix("https://ads/") ? "ad" : segment.uri)
        }.joined(separator: " ")
    }

    @Test func shortCutIsADiscontinuityInTracksWithLongerSegments() async throws {
        let tracks = try await edited([("cut", "10...12")])
        #expect(tracks.video.segments[5].hasDiscontinuity && tracks.video.segments.count == 29)
        #expect(spelled(tracks.audio) == "0:0 1:10 1:20 1:30 1:40 1:50")
    }

    /// Both ends are nearest to 10 s, but a difference of 8 s would be most of a segment.
    @Test func differenceAfterACutIsAtMostHalfASegment() async throws {
        let tracks = try await edited([("cut", "6...14")])
        #expect(tracks.video.duration == MediaTime(seconds: 52))
        #expect(spelled(tracks.audio) == "0:0 1:20 1:30 1:40 1:50")
    }

    @Test func trackWithoutASegmentBeforeTheCutBeginsWithTheDiscontinuity() async throws {
        let tracks = try await edited([("cut", "2...12")])
        #expect(spelled(tracks.video).hasPrefix("0:0 1:12 1:14 "))
        #expect(spelled(tracks.audio) == "1:10 1:20 1:30 1:40 1:50")
        #expect(tracks.audio.segments.first?.sequence == 1)
    }

    @Test func cutsAtOneBoundaryAreAsManyDiscontinuities() async throws {
        let tracks = try await edited([("exclude", "8...10,12...14")])
        #expect(spelled(tracks.video).contains("0:6 1:10 2:14 "))
        #expect(spelled(tracks.audio) == "0:0 2:10 2:20 2:30 2:40 2:50")
        let successive = try await edited([("cut", "8...10"), ("cut", "10...12")])
        #expect(successive.video.bytes == tracks.video.bytes && successive.audio.bytes == tracks.audio.bytes)
    }

    /// An edit that changes nothing in the video changes no byte of the other tracks.
    @Test(arguments: [("cut", "10.2...10.8"), ("cut", "0...0.5"), ("cut", "60..."), ("exclude", "10.2...10.8")])
    func cutThatRemovesNothingFromTheVideoChangesNoTrack(name: String, value: String) async throws {
        let tracks = try await edited([(name, value)])
        #expect(tracks.video.bytes == Array(Self.media(2).utf8))
        #expect(tracks.audio.bytes == Array(Self.media(10).utf8))
    }

    @Test func cutOfTheStartOrTheEndIsNoDiscontinuity() async throws {
        for edit in [("cut", "0...12"), ("cut", "48..."), ("exclude", "0...12,48...60"), ("trim", "12...48")] {
            let tracks = try await edited([edit])
            for track in [tracks.video, tracks.audio] {
                #expect(track.segments.allSatisfy { $0.discontinuitySequence == 0 }, "\(edit)")
            }
        }
    }

    @Test func segmentOfEachTrackRemains() async throws {
        let tracks = try await edited([("exclude", "2...60")], audio: Self.media(60))
        #expect(spelled(tracks.video) == "0:0" && spelled(tracks.audio) == "0:0")
        let both = try await edited([("trim", "30...40"), ("cut", "2...6")], audio: Self.media(60))
        #expect(spelled(both.video) == "0:30 1:36 1:38" && both.audio.segments.count == 1)
    }

    @Test func insertedPlaylistHasTheSameDiscontinuitiesInAllTracks() async throws {
        let middle = try await edited([("insert", "https://ads/ad@30")])
        #expect(spelled(middle.audio) == "0:0 0:10 0:20 1:ad 1:ad 2:30 2:40 2:50")
        // The nearest boundary of the audio is its start.
        let early = try await edited([("insert", "https://ads/ad@2")])
        #expect(spelled(early.video).hasPrefix("0:0 1:ad 1:ad 2:2 "))
        #expect(spelled(early.audio) == "1:ad 1:ad 2:0 2:10 2:20 2:30 2:40 2:50")
        let start = try await edited([("insert", "https://ads/ad@0")])
        #expect(spelled(start.video).hasPrefix("0:ad 0:ad 1:0 ") && spelled(start.audio).hasPrefix("0:ad 0:ad 1:0 "))
        // Two playlists at one boundary of the audio.
        let two = try await edited([("insert", "https://ads/ad@28"), ("insert", "https://ads/ad@40")])
        #expect(spelled(two.video).contains("0:26 1:ad 1:ad 2:28 3:ad 3:ad 4:30 "))
        #expect(spelled(two.audio) == "0:0 0:10 0:20 1:ad 1:ad 3:ad 3:ad 4:30 4:40 4:50")
    }

    @Test(arguments: [
        "16...20", "20...24", "18...22", "12...14", "2...40", "18...20", "20...22", "14...44", "38...40", "40...44",
    ])
    func numbersMatchWhereTheSourceHasDiscontinuities(value: String) async throws {
        let tracks = try await edited(
            [("cut", value)],
            video: Self.media(2, discontinuities: [20, 40]),
            audio: Self.media(6, discontinuities: [20, 40])
        )
        #expect(
            tracks.video.segments.last?.discontinuitySequence == tracks.audio.segments.last?.discontinuitySequence
        )
        let difference = tracks.video.duration - tracks.audio.duration
        #expect(max(difference, .zero - difference) <= MediaTime(seconds: 3), "\(difference)")
        // Each discontinuity has the media of the same times in both tracks.
        for segment in tracks.audio.segments {
            let video = tracks.video.segments.filter { $0.discontinuitySequence == segment.discontinuitySequence }
            let times = video.compactMap { Int($0.uri) }
            let time = try #require(Int(segment.uri))
            #expect(times.contains { abs($0 - time) <= 6 }, "\(segment.uri) of \(segment.discontinuitySequence)")
        }
    }

    @Test func trackWithOtherDiscontinuitiesIsCutOnceForEachCut() async throws {
        let tracks = try await edited([("cut", "16...24")], video: Self.media(2, discontinuities: [20]))
        #expect(spelled(tracks.audio) == "0:0 0:10 1:30 1:40 1:50")
    }

    @Test func tracksOfAnEventHaveTheSameDiscontinuities() async throws {
        let tracks = try await edited(
            [("cut", "10...12")],
            video: Self.media(2, isEvent: true),
            audio: Self.media(10, isEvent: true)
        )
        #expect(spelled(tracks.audio) == "0:0 1:10 1:20 1:30 1:40 1:50" && !tracks.audio.hasEndMarker)
        let live = Self.media(10, isEvent: true).replacing("#EXT-X-PLAYLIST-TYPE:EVENT\n", with: "")
        let refused = try MediaPlaylist(parsing: Array(live.utf8))
        #expect(throws: PlaylistEditError.self) {
            try EditPlan([PlaylistEdit(name: "exclude", value: "seams=10...12/0/0")]).applied(to: refused)
        }
    }

    /// The differences of trimmed ends and cuts do not add up.
    @Test func trimWithBothEndsIsCombinedWithCuts() async throws {
        let audio = Self.media(6)
        for edits in [
            [("trim", "4...56"), ("cut", "10...14"), ("cut", "20...24")],
            [("cut", "10...14"), ("trim", "4...52"), ("cut", "20...24")],
            [("start", "4"), ("duration", "50"), ("cut", "10...14"), ("exclude", "10...12,20...22")],
        ] {
            let tracks = try await edited(edits, audio: audio)
            let difference = tracks.video.duration - tracks.audio.duration
            #expect(max(difference, .zero - difference) <= MediaTime(seconds: 3), "\(edits)")
            #expect(
                tracks.video.segments.last?.discontinuitySequence == tracks.audio.segments.last?.discontinuitySequence
            )
        }
    }

    /// The value of an edit can be from outside, so its numbers do not determine how many tags are written.
    @Test(arguments: [
        "seams=10...20/0/9223372036854775807", "seams=10...20/9223372036854775807/9223372036854775807",
        "seams=0...10/9223372036854775807/9223372036854775807,20...30/0/0", "seams=10...20/0/5,10...20/0/5,5...9/7/8",
    ])
    func numbersOfASeamAreBounded(value: String) throws {
        let playlist = try MediaPlaylist(parsing: Array(Self.media(5, discontinuities: [20]).utf8))
        let edited = try EditPlan([PlaylistEdit(name: "exclude", value: value)]).applied(to: playlist)
        #expect(edited.segments.count < playlist.segments.count)
        #expect((edited.segments.last?.discontinuitySequence ?? 0) < 9)
    }
}
