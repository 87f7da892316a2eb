import DASHManifest
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaTiming
import Testing

struct LiveTranslationTests {
    private func sequences(_ playlist: MediaPlaylist) -> [Int64] { playlist.segments.map(\.sequence) }

    /// Returns the segments that have the same address in two versions of a playlist, with both numbers.
    private func numbers(_ first: MediaPlaylist, _ second: MediaPlaylist) -> [[Int64]] {
        let known = Dictionary(
            first.segments.map { ($0.uri, $0.sequence) },
            uniquingKeysWith: { first, _ in first }
        )
        return second.segments.compactMap { segment in known[segment.uri].map { [$0, segment.sequence] } }
    }

    @Test func windowOfConstantDurationFollowsTheClock() throws {
        let presentation = try liveManifest(
            #"<Period id="1" start="PT0S">\#(videoSet)</Period>"#,
            attributes: #"timeShiftBufferDepth="PT20S" suggestedPresentationDelay="PT15S""#
        )
        let result = try translate(presentation)
        let playlist = try result.playlist("video-v1.m3u8")
        // At 600 seconds, segments 1 to 150 are complete; the window has the last 20 seconds.
        #expect(playlist.segments.map(\.uri).first == "https://example.test/a/v1/146.m4s")
        #expect(playlist.segments.map(\.uri).last == "https://example.test/a/v1/150.m4s")
        #expect(sequences(playlist) == [145, 146, 147, 148, 149])
        #expect(playlist.isLive)
        #expect(playlist.segments.first?.programDateTime?.sinceEpoch == testNow - 20)
        #expect(playlist.serverControl?.holdBack == 15)
    }

    @Test func numbersAreTheSameForAllServersAndContinuous() throws {
        let presentation = try liveManifest(
            #"<Period id="1" start="PT0S">\#(videoSet)</Period>"#,
            attributes: #"timeShiftBufferDepth="PT20S""#
        )
        var translator = PresentationTranslator()
        for offset in [0, 4, 9, 31, 300] as [Int64] {
            let now = testNow + MediaTime(seconds: offset)
            let continued = try translator.translate(presentation, at: now).playlist("video-v1.m3u8")
            let restarted = try translate(presentation, at: now).playlist("video-v1.m3u8")
            #expect(continued.bytes == restarted.bytes, "\(offset)")
        }
    }

    private func timeline(_ entries: String, number: Int? = nil) throws -> MediaPresentation {
        let media = number == nil ? "$Time$" : "$Number$"
        return try liveManifest(
            """
            <Period id="1" start="PT0S"><AdaptationSet contentType="video" mimeType="video/mp4"><SegmentTemplate timescale="10"
            startNumber="\(number ?? 1)" initialization="i" media="\(media)"><SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate>
            <Representation id="v" bandwidth="1" codecs="avc1.64001f"/></AdaptationSet></Period>
            """
        )
    }

    @Test func numberedTimelinesKeepTheirNumbers() throws {
        let result = try translate(timeline(#"<S t="400" d="40" r="4"/>"#, number: 77))
        #expect(try sequences(result.playlist("video-v.m3u8")) == [77, 78, 79, 80, 81])
    }

    @Test func timelinesOfVariableDurationAreCountedOn() throws {
        var translator = PresentationTranslator()
        let versions = [
            #"<S t="400" d="40"/><S d="55"/><S d="20"/><S d="61"/>"#,
            #"<S t="440" d="55"/><S d="20"/><S d="61"/><S d="33"/>"#,
            #"<S t="495" d="20"/><S d="61"/><S d="33"/><S d="12"/><S d="40"/>"#,
        ]
        var previous: MediaPlaylist?
        for version in versions {
            let result = try translator.translate(timeline(version), at: testNow)
            #expect(violations(of: result) == [])
            let playlist = try result.playlist("video-v.m3u8")
            if let previous {
                let numbers = numbers(previous, playlist)
                #expect(numbers.count == 3)
                #expect(numbers.allSatisfy { $0[0] == $0[1] })
            } else {
                #expect(playlist.mediaSequence == 400)
            }
            previous = playlist
        }
        // After a restart, the numbers are higher than all before.
        let restarted = try translate(timeline(versions[2])).playlist("video-v.m3u8")
        #expect(restarted.mediaSequence > (try #require(previous?.segments.last?.sequence)))
    }

    /// Otherwise the numbers of a window that begins with its longest segment would be lower than those of others.
    @Test(arguments: [
        (#"<S t="400" d="61"/><S d="20"/><S d="61"/><S d="33"/>"#, 400), (#"<S t="400" d="40" r="2"/><S d="9"/>"#, 10),
        (#"<S t="400" d="40" r="2"/><S d="41"/>"#, 400), (#"<S t="400" d="40"/>"#, 10),
        // Equal segments that do not begin at a multiple of their duration are a part of a timeline of others.
        (#"<S t="410" d="40" r="3"/>"#, 410),
    ])
    func numbersFollowFromTheTimeOfSegmentsOfTheSameDuration(_ entries: String, _ sequence: Int64) throws {
        #expect(try translate(timeline(entries)).playlist("video-v.m3u8").mediaSequence == sequence)
    }

    /// Players would take the segments for others that had these numbers before a restart.
    @Test func restartIsADiscontinuityUntilItsSegmentLeavesTheWindow() throws {
        var translator = PresentationTranslator()
        let first = try translator.translate(timeline(#"<S t="400" d="40"/><S d="55"/><S d="20"/>"#), at: testNow)
        #expect(violations(of: first) == [])
        let text = try first.text("video-v.m3u8")
        #expect(text.contains("#EXT-X-DISCONTINUITY-SEQUENCE:40\n") && text.contains("#EXT-X-DISCONTINUITY\n"))
        let numbers = try first.playlist("video-v.m3u8").segments.map(\.discontinuitySequence)
        #expect(numbers == [41, 41, 41])
        let same = try translator.translate(timeline(#"<S t="400" d="40"/><S d="55"/><S d="20"/>"#), at: testNow)
        #expect(try same.text("video-v.m3u8") == text)
        let next = try translator.translate(timeline(#"<S t="440" d="55"/><S d="20"/>"#), at: testNow)
        let later = try next.text("video-v.m3u8")
        #expect(later.contains("#EXT-X-DISCONTINUITY-SEQUENCE:41\n") && !later.contains("#EXT-X-DISCONTINUITY\n"))
    }

    /// The durations of audio segments alternate by a frame, but the segments are those of the video.
    @Test func numbersOfAudioFollowFromTheVideo() throws {
        func version(_ first: Int) throws -> MediaPresentation {
            let starts = (first...first + 5).map { ($0 * 96_000 + 1_023) / 1_024 * 1_024 }
            let audio = zip(starts, starts.dropFirst()).map { #"<S t="\#($0)" d="\#($1 - $0)"/>"# }.joined()
            return try liveManifest(
                """
                <Period id="1" start="PT0S"><AdaptationSet contentType="video" mimeType="video/mp4"><SegmentTemplate
                initialization="i" media="v$Time$"><SegmentTimeline><S t="\(first * 2)" d="2" r="4"/></SegmentTimeline>
                </SegmentTemplate><Representation id="v" bandwidth="1" codecs="avc1.64001f"/></AdaptationSet>
                <AdaptationSet contentType="audio" mimeType="audio/mp4"><SegmentTemplate timescale="48000"
                initialization="i" media="a$Time$"><SegmentTimeline>\(audio)</SegmentTimeline></SegmentTemplate>
                <Representation id="a" bandwidth="1" codecs="mp4a.40.2"/></AdaptationSet></Period>
                """
            )
        }
        for first in 100..<110 {
            let result = try translate(version(first))
            for name in ["video-v.m3u8", "audio-a.m3u8"] {
                #expect(try sequences(result.playlist(name)) == Array(Int64(first)..<Int64(first) + 5), "\(name)")
                #expect(try !result.text(name).contains("#EXT-X-DISCONTINUITY\n"))
            }
        }
    }

    @Test func stateCanBeStored() throws {
        let periods = [
            #"<S t="400" d="40"/><S d="55"/><S d="20"/><S d="61"/>"#, #"<S t="495" d="20"/><S d="61"/><S d="33"/>"#,
        ]
        var translator = PresentationTranslator()
        _ = try translator.translate(timeline(periods[0]), at: testNow)
        let data = try JSONEncoder().encode(translator.state)
        let restored = try JSONDecoder().decode(TranslationState.self, from: data)
        #expect(restored == translator.state)
        var other = PresentationTranslator(state: restored)
        let expected = try translator.translate(timeline(periods[1]), at: testNow).playlists.map(\.bytes)
        #expect(try other.translate(timeline(periods[1]), at: testNow).playlists.map(\.bytes) == expected)
        // Times without a common timescale, and no windows at all.
        for state in [TranslationState(), try exactState()] {
            #expect(try JSONDecoder().decode(TranslationState.self, from: JSONEncoder().encode(state)) == state)
        }
    }

    /// Returns the state of a translation whose times are not integers in a common timescale.
    private func exactState() throws -> TranslationState {
        var translator = PresentationTranslator()
        let entries = #"<S t="4000000000000000000" d="1000000000000000"/><S d="999999999999999"/>"#
        _ = try translator.translate(timeline(entries), at: testNow)
        return translator.state
    }

    @Test(arguments: ["{}", #"{"version":2}"#, "[]", "1"])
    func stateOfAnotherFormIsNotRead(_ text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(TranslationState.self, from: Data(text.utf8))
        }
    }

    @Test func missedVersionsAreCounted() throws {
        var translator = PresentationTranslator()
        let first = try translator.translate(timeline(#"<S t="0" d="40" r="4"/>"#), at: testNow)
        #expect(try sequences(first.playlist("video-v.m3u8")) == [0, 1, 2, 3, 4])
        let later = try translator.translate(timeline(#"<S t="400" d="40" r="4"/>"#), at: testNow + 40)
        #expect(try sequences(later.playlist("video-v.m3u8")) == [10, 11, 12, 13, 14])
    }

    @Test func segmentsThatReappearBeforeTheWindowAreLeftOut() throws {
        var translator = PresentationTranslator()
        _ = try translator.translate(timeline(#"<S t="400" d="40" r="4"/>"#), at: testNow)
        let later = try translator.translate(timeline(#"<S t="320" d="40" r="7"/>"#), at: testNow)
        let playlist = try later.playlist("video-v.m3u8")
        #expect(sequences(playlist) == [10, 11, 12, 13, 14, 15])
        #expect(playlist.segments.first?.uri == "https://example.test/a/400")
    }

    @Test func periodsChangeWithoutChangingNumbers() throws {
        func version(_ window: Int) throws -> MediaPresentation {
            let periods = (0..<10).map { number in
                #"<Period id="p\#(number)" start="PT\#(number * 20)S">\#(videoSet)</Period>"#
            }
            let last = min(9, window + 1)
            return try liveManifest(
                periods[max(0, window - 1)...last].joined(),
                attributes: #"timeShiftBufferDepth="PT24S""#
            )
        }
        var translator = PresentationTranslator()
        var previous: MediaPlaylist?
        for step in stride(from: 30, through: 180, by: 6) as StrideThrough<Int64> {
            let now = MediaTime(seconds: 1_704_067_200 + step)
            let result = try translator.translate(version(Int(step) / 20), at: now)
            #expect(violations(of: result) == [], "\(step)")
            let playlist = try result.playlist("video-v1.m3u8")
            for segment in playlist.segments {
                let start = try #require(segment.programDateTime).sinceEpoch - MediaTime(seconds: 1_704_067_200)
                #expect(segment.sequence == start.value / 4, "\(step)")
                #expect(segment.discontinuitySequence == start.value / 20, "\(step)")
            }
            if let previous { #expect(playlist.mediaSequence >= previous.mediaSequence) }
            previous = playlist
        }
    }

    @Test func endedPresentationsHaveAnEndMarker() throws {
        var translator = PresentationTranslator()
        let live = try liveManifest(
            #"<Period id="1" start="PT0S">\#(videoSet)</Period>"#,
            attributes: #"timeShiftBufferDepth="PT20S""#
        )
        let first = try translator.translate(live, at: testNow).playlist("video-v1.m3u8")
        #expect(!first.hasEndMarker)
        let ended = try manifest(
            #"<Period id="1" start="PT0S">\#(videoSet)</Period>"#,
            attributes:
                #"type="static" availabilityStartTime="2024-01-01T00:00:00Z" mediaPresentationDuration="PT10M6S""#
        )
        let result = try translator.translate(ended, at: testNow + 6)
        #expect(violations(of: result) == [])
        let last = try result.playlist("video-v1.m3u8")
        #expect(last.hasEndMarker)
        #expect(last.playlistType == nil)
        #expect(last.mediaSequence == first.mediaSequence)
        #expect(last.segments.last?.duration == 2)
        #expect(numbers(first, last).allSatisfy { $0[0] == $0[1] })
    }

    @Test func presentationsBeforeTheirStartAreNotAvailable() throws {
        let presentation = try liveManifest(#"<Period id="1" start="PT0S">\#(videoSet)</Period>"#)
        var translator = PresentationTranslator()
        #expect(throws: TranslationError.notAvailableYet) {
            try translator.translate(presentation, at: MediaTime(seconds: 1_704_067_200))
        }
    }

    @Test func windowsWithoutADepthAreBounded() throws {
        let presentation = try manifest(
            #"<Period id="1" start="PT0S">\#(videoSet)</Period>"#,
            attributes: #"type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z""#
        )
        let playlist = try translate(presentation).playlist("video-v1.m3u8")
        #expect(playlist.segments.count == 43_200)
        #expect(playlist.segments.last?.uri == "https://example.test/a/v1/\(testNow.value / 4).m4s")
    }

    @Test func segmentsAreAvailableEarlyOnlyIfTheyAreComplete() throws {
        for (attributes, last) in [
            (#"availabilityTimeOffset="8""#, 152),
            (#"availabilityTimeOffset="8" availabilityTimeComplete="false""#, 150),
        ] {
            let video = videoSet.replacing("<SegmentTemplate", with: "<SegmentTemplate \(attributes)")
            let presentation = try liveManifest(#"<Period id="1" start="PT0S">\#(video)</Period>"#)
            let playlist = try translate(presentation).playlist("video-v1.m3u8")
            #expect(playlist.segments.last?.uri == "https://example.test/a/v1/\(last).m4s")
        }
    }
}
