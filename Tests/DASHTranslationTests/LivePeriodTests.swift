import DASHManifest
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaTiming
import Testing

/// Live presentations of several periods, whose playlists only grow at their ends and shrink at their beginnings.
struct LivePeriodTests {
    /// A live presentation in periods of 20 seconds, with a window of 24 seconds.
    struct Stream: Sendable, CustomTestStringConvertible {
        let name: String
        /// The durations of segments, in milliseconds.
        var video = 2_000
        var audio = 2_000
        /// The time by which audio is available later than video, in milliseconds.
        var audioDelay = 0
        /// A Boolean value that indicates whether the manifest lists the segments; otherwise they have a constant duration.
        var isListed = true
        /// A Boolean value that indicates whether the numbers of segments begin again in each period.
        var isNumbered = false

        var testDescription: String { name }

        private static let length = 20_000

        /// Returns the manifest at a time in milliseconds after the availability start time.
        func manifest(at now: Int) throws -> MediaPresentation {
            let first = max(0, now - 24_000 - max(video, audio)) / Self.length
            let periods = (first...now / Self.length).map { period in
                let sets = [("video", video, 0, "avc1.64001f"), ("audio", audio, audioDelay, "mp4a.40.2")].map { set in
                    """
                    <AdaptationSet contentType="\(set.0)" mimeType="\(set.0)/mp4">\(template(set, period, now))
                    <Representation id="\(set.0)" bandwidth="1000" codecs="\(set.3)"/></AdaptationSet>
                    """
                }
                return #"<Period id="p\#(period)" start="PT\#(period * 20)S">\#(sets.joined())</Period>"#
            }
            return try liveManifest(periods.joined(), attributes: #"timeShiftBufferDepth="PT24S""#)
        }

        private func template(_ set: (String, Int, Int, String), _ period: Int, _ now: Int) -> String {
            let (name, duration, delay, _) = set
            let media = isNumbered ? "$Number$" : isListed ? "$Time$" : "$Number$"
            let attributes = #"timescale="1000" initialization="i" media="\#(name)-\#(period)-\#(media)""#
            guard isListed else { return #"<SegmentTemplate \#(attributes) duration="\#(duration)"/>"# }
            // The last segment of a period may end after it.
            let starts = stride(from: 0, to: Self.length, by: duration).filter { start in
                let end = period * Self.length + start + duration
                return end + delay <= now && end > now - 24_000
            }
            let entries = starts.map { #"<S t="\#($0)" d="\#(duration)"/>"# }.joined()
            let number = isNumbered ? #" startNumber="\#((starts.first ?? 0) / duration + 1)""# : ""
            return
                "<SegmentTemplate \(attributes)\(number)><SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate>"
        }
    }

    private static let streams = [
        Stream(name: "equal segments"),
        Stream(name: "longer audio", audio: 4_000, isListed: false),
        Stream(name: "late audio", audioDelay: 3_000),
        Stream(name: "audio that exceeds periods", audio: 1_984),
        Stream(name: "numbers that begin again", isNumbered: true),
        Stream(name: "segments that periods cut", video: 8_000, audio: 8_000, isListed: false),
    ]

    private struct Listed: Equatable {
        let discontinuity: Int64
        let uri: String
        let duration: MediaTime
        let isGap: Bool
    }

    @Test(arguments: streams) func segmentsKeepTheirNumbers(_ stream: Stream) throws {
        var translator = PresentationTranslator()
        var known: [String: [Int64: Listed]] = [:]
        var last: [String: Int64] = [:]
        for second in 600..<700 {
            let presentation = try stream.manifest(at: second * 1_000)
            let result = try translator.translate(presentation, at: testNow + MediaTime(seconds: Int64(second - 600)))
            for entry in result.playlists {
                let playlist = try entry.playlist
                for segment in playlist.segments {
                    let listed = Listed(
                        discontinuity: segment.discontinuitySequence,
                        uri: segment.uri,
                        duration: segment.duration,
                        isGap: segment.isGap
                    )
                    let former = known[entry.fileName, default: [:]].updateValue(listed, forKey: segment.sequence)
                    #expect(former ?? listed == listed, "\(entry.fileName) \(segment.sequence) at \(second)")
                    #expect(!segment.isGap, "\(entry.fileName) \(segment.sequence) at \(second)")
                }
                let sequence = try #require(playlist.segments.first).sequence
                #expect(sequence >= last[entry.fileName] ?? 0)
                last[entry.fileName] = sequence
            }
        }
        // No segment is left out and none has two numbers.
        for list in known.values {
            #expect(list.keys.count == Int((list.keys.max() ?? 0) - (list.keys.min() ?? 0)) + 1)
            #expect(Set(list.values.map(\.uri)).count == list.count)
        }
    }

    /// Numbers do not go back when a program without a state is started again, or a discontinuity announces it.
    @Test(arguments: streams) func numbersGrowOverRestarts(_ stream: Stream) throws {
        var last: [String: Int64] = [:]
        for second in stride(from: 600, to: 760, by: 7) {
            let presentation = try stream.manifest(at: second * 1_000)
            let result = try translate(presentation, at: testNow + MediaTime(seconds: Int64(second - 600)))
            for entry in result.playlists {
                let sequence = try #require(try entry.playlist.segments.first).sequence
                #expect(sequence >= last[entry.fileName] ?? 0, "\(entry.fileName) at \(second)")
                last[entry.fileName] = sequence
            }
        }
    }

    /// A period that is announced with all of its segments does not replace the one that is played.
    @Test func announcedPeriodIsListedWhenItBegins() throws {
        func presentation(_ end: Int) throws -> MediaPresentation {
            let entries = (end / 2 - 10..<end / 2).map { #"<S t="\#($0 * 2)" d="2"/>"# }.joined()
            let set = { (media: String, timeline: String) in
                """
                <AdaptationSet mimeType="video/mp4"><SegmentTemplate initialization="i" media="\(media)"><SegmentTimeline>\(timeline)
                </SegmentTimeline></SegmentTemplate><Representation id="v" bandwidth="1" codecs="avc1.64001f"/></AdaptationSet>
                """
            }
            return try liveManifest(
                #"<Period id="c" start="PT0S">\#(set("c-$Time$", entries))</Period>"#
                    + #"<Period id="ad" start="PT640S">\#(set("ad-$Time$", #"<S t="0" d="2" r="7"/>"#))</Period>"#,
                attributes: #"timeShiftBufferDepth="PT30S""#
            )
        }
        var translator = PresentationTranslator()
        let current = try translator.translate(try presentation(600), at: testNow).playlist("video-v.m3u8")
        #expect(current.segments.map(\.uri) == (290..<300).map { "https://example.test/a/c-\($0 * 2)" })
        let later = try translator.translate(try presentation(640), at: testNow + 44).playlist("video-v.m3u8")
        #expect(later.segments.suffix(3).map(\.uri) == ["ad-0", "ad-2", "ad-4"].map { "https://example.test/a/\($0)" })
        #expect(later.segments.allSatisfy { !$0.isGap })
    }

    @Test func eventsOfASlidingListKeepTheirIdentifiers() throws {
        func identifiers(_ events: Range<Int>) throws -> [String: MediaTime] {
            let list = events.map { #"<Event presentationTime="\#($0 * 5)">e\#($0)</Event>"# }.joined()
            let stream = #"<EventStream schemeIdUri="urn:example:events">\#(list)</EventStream>"#
            let result = try translate(
                try liveManifest(#"<Period id="1" start="PT0S">\#(stream)\#(videoSet)</Period>"#)
            )
            let ranges = try result.playlist("video-v1.m3u8").dateRanges
            return Dictionary(uniqueKeysWithValues: try ranges.map { ($0.id, try #require($0.startDate).sinceEpoch) })
        }
        let (first, second) = (try identifiers(100..<110), try identifiers(103..<113))
        #expect(first.count == 10 && second.count == 10)
        #expect(first.keys.filter { second[$0] != nil }.count == 7)
        #expect(first.allSatisfy { second[$0.key] ?? $0.value == $0.value })
    }
}
