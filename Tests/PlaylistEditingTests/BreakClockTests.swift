import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Replaces breaks by the clock, whose numbers every server computes alike.
struct BreakClockTests {
    /// A live stream with segments of equal duration, of which each version shows some.
    struct Stream: CustomTestStringConvertible {
        /// The duration of a segment in milliseconds.
        let duration: Int64
        let target: Int64
        let window: Int
        /// The date of the first segment in milliseconds since 1970.
        let start: Int64
        /// The durations of the segments of the advertisement in seconds.
        let advertisement: [Int64]
        let interval: Int64

        var testDescription: String { "\(duration) ms, \(window) segments, \(advertisement) every \(interval) s" }

        func version(endingAt end: Int) throws -> MediaPlaylist {
            let first = max(0, end - window)
            let date = ProgramDateTime(
                sinceEpoch: MediaTime(value: start + Int64(first) * duration, timescale: 1_000)
            )
            var text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
            text += "#EXT-X-PROGRAM-DATE-TIME:\(date)\n"
            let length = MediaTime(value: duration, timescale: 1_000)
            for number in first..<end { text += "#EXTINF:\(length),\n\(number).ts\n" }
            let address = PlaylistContext(address: ResourceAddress("https://a.example/live.m3u8"))
            return try MediaPlaylist(parsing: Array(text.utf8), context: address)
        }

        func inserted() throws -> MediaPlaylist {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(advertisement.max() ?? 1)\n"
            for (number, duration) in advertisement.enumerated() { text += "#EXTINF:\(duration),\nad-\(number).ts\n" }
            let address = PlaylistContext(address: ResourceAddress("https://ads.example/ad.m3u8"))
            return try MediaPlaylist(parsing: Array((text + "#EXT-X-ENDLIST\n").utf8), context: address)
        }

        /// The number of segments in an hour.
        var hour: Int { Int(3_600_000 / duration) }
    }

    /// A server with the timelines that it has stored.
    private struct Server {
        var timelines = BreakTimelines()

        mutating func playlist(
            of version: MediaPlaylist,
            _ advertisement: MediaPlaylist?,
            every interval: Int64
        ) throws
            -> MediaPlaylist
        {
            let edit = PreparedEdit(
                plan: EditPlan([.replaceBreaks(with: "ad", at: .every(MediaTime(seconds: interval)))]),
                input: .media(version, sources: advertisement.map { ["ad": $0] } ?? [:]),
                limits: PlaylistLimits(),
                date: nil
            )
            guard case .media(let result) = try edit.apply(continuing: &timelines) else { throw CancellationError() }
            return result
        }
    }

    private func text(_ playlist: MediaPlaylist) -> String { String(decoding: playlist.bytes, as: UTF8.self) }

    private static let date: Int64 = 1_767_225_600_000

    private static let streams = [
        Stream(duration: 6_000, target: 6, window: 6, start: date, advertisement: [6, 6, 6], interval: 60),
        Stream(duration: 6_000, target: 6, window: 5, start: date + 1_700, advertisement: [8, 4, 6], interval: 90),
        Stream(
            duration: 3_840,
            target: 4,
            window: 8,
            start: date + 1_000,
            advertisement: [4, 4, 4, 4, 4],
            interval: 120
        ),
        Stream(duration: 2_000, target: 2, window: 6, start: date + 300, advertisement: [10, 10], interval: 60),
        Stream(duration: 6_006, target: 7, window: 40, start: date, advertisement: [6, 6, 6, 6, 6], interval: 300),
        Stream(duration: 6_000, target: 6, window: 6, start: date, advertisement: [2, 2, 2, 2, 2], interval: 47),
        Stream(duration: 6_000, target: 6, window: 6, start: date, advertisement: [6, 6, 6], interval: 20),
        Stream(duration: 4_000, target: 4, window: 3, start: date + 2_500, advertisement: [5, 5, 5, 1], interval: 33),
    ]

    @Test(arguments: streams) func serversWithoutCommonStateAgree(stream: Stream) throws {
        let advertisement = try stream.inserted()
        // One server is there from the start, one begins later and does not load the playlist for a while, one starts again with each
        // request.
        var (first, second) = (Server(), Server())
        var known: [Int64: [String]] = [:]
        var (start, end): (Int64, Int64) = (0, 0)
        var breakCount = 0
        for number in stride(from: stream.window, through: stream.hour, by: 1) {
            let version = try stream.version(endingAt: number)
            let result = try first.playlist(of: version, advertisement, every: stream.interval)
            var fresh = Server()
            let computed = try fresh.playlist(of: version, advertisement, every: stream.interval)
            try #require(text(computed) == text(result), "version \(number)")
            if number > stream.hour / 5, !(stream.hour / 3..<stream.hour / 2).contains(number) {
                let other = try second.playlist(of: version, advertisement, every: stream.interval)
                try #require(text(other) == text(result), "version \(number)")
            }
            try #require(result.mediaSequence >= start && (known.isEmpty || result.mediaSequence <= end))
            start = result.mediaSequence
            end = start + Int64(result.segments.count)
            for segment in result.segments {
                let value = [segment.address.text, "\(segment.discontinuitySequence)", "\(segment.hasDiscontinuity)"]
                try #require(known[segment.sequence] ?? value == value, "version \(number)")
                if known.updateValue(value, forKey: segment.sequence) == nil, segment.uri.hasSuffix("ad-0.ts") {
                    breakCount += 1
                }
            }
            guard number % 7 == 0 else { continue }
            let errors = Playlist.media(result).validated().filter { $0.severity == .error }
            try #require(errors.map(\.message) == [], "version \(number)")
        }
        #expect(breakCount > 10)
    }

    @Test func earlierVersionsHaveTheSameNumbers() throws {
        let stream = Self.streams[0]
        let advertisement = try stream.inserted()
        for number in 20..<60 {
            var (server, fresh) = (Server(), Server())
            _ = try server.playlist(of: stream.version(endingAt: number), advertisement, every: 60)
            let earlier = try stream.version(endingAt: number - 1)
            let result = try server.playlist(of: earlier, advertisement, every: 60)
            #expect(result.bytes == (try fresh.playlist(of: earlier, advertisement, every: 60)).bytes)
        }
    }

    @Test func breaksAreFurtherApartThanTheyAreLong() throws {
        let stream = Self.streams[6]
        var server = Server()
        var dates: Set<Int64> = []
        for number in stream.window..<100 {
            let version = try stream.version(endingAt: number)
            for segment in try server.playlist(of: version, stream.inserted(), every: 20).segments
            where segment.uri.hasSuffix("ad-0.ts") {
                dates.insert(try #require(segment.programDateTime).sinceEpoch.seconds.rounded().int64)
            }
        }
        // Four segments of at most 6.5 s do not fit in 20 s, so breaks are at multiples of 40 s.
        let expected = stride(from: Int64(1_767_225_600), to: 1_767_226_200, by: 40)
        #expect(!dates.isEmpty && dates.allSatisfy { date in expected.contains { abs($0 - date) <= 3 } })
        #expect(dates.count >= 14)
    }

    @Test func aMissingAdvertisementIsTheLastOneOrAnError() throws {
        let stream = Self.streams[0]
        let version = try stream.version(endingAt: 12)
        var server = Server()
        #expect(throws: PlaylistEditError.self) { try server.playlist(of: version, nil, every: 60) }
        _ = try server.playlist(of: version, stream.inserted(), every: 60)
        let later = try stream.version(endingAt: 14)
        var other = Server()
        #expect(
            try server.playlist(of: later, nil, every: 60).bytes
                == (try other.playlist(of: later, stream.inserted(), every: 60)).bytes
        )
    }

    @Test func anAdvertisementOfYearsReplacesABoundedNumberOfSegments() throws {
        // Without a limit, the break in progress could have replaced 16 million segments.
        let stream = Stream(
            duration: 6_000,
            target: 6,
            window: 6,
            start: 1_767_225_600_000,
            advertisement: [100_000_000],
            interval: 60
        )
        var server = Server()
        for number in 6..<20 {
            let result = try server.playlist(of: stream.version(endingAt: number), stream.inserted(), every: 60)
            #expect(!result.segments.isEmpty)
        }
        #expect(server.timelines.size < 200_000)
    }

    @Test func numbersContinueWithAnotherAdvertisement() throws {
        let stream = Self.streams[0]
        let other = Stream(
            duration: 6_000,
            target: 6,
            window: 6,
            start: stream.start,
            advertisement: [3, 3, 3, 3],
            interval: 60
        )
        var server = Server()
        var known: [Int64: String] = [:]
        var start: Int64 = 0
        for number in 6..<80 {
            let advertisement = try (number < 40 ? stream : other).inserted()
            let result = try server.playlist(of: stream.version(endingAt: number), advertisement, every: 60)
            #expect(result.mediaSequence >= start)
            start = result.mediaSequence
            for segment in result.segments {
                #expect(known[segment.sequence] ?? segment.address.text == segment.address.text)
                known[segment.sequence] = segment.address.text
            }
        }
        #expect(known.count > 80)
    }

    /// Segments that are much shorter than the target duration cannot be counted in advance.
    @Test func aStreamOfShortSegmentsContinuesItsTimeline() throws {
        let stream = Stream(
            duration: 3_000,
            target: 6,
            window: 8,
            start: Self.date,
            advertisement: [6, 6, 6],
            interval: 60
        )
        var server = Server()
        let versions = try (8..<60).map { try stream.version(endingAt: $0) }
        let results = try versions.map { try server.playlist(of: $0, stream.inserted(), every: 60) }
        #expect(results[0].mediaSequence == 0)
        #expect(results.allSatisfy { $0.mediaSequence <= 60 })
    }
}

extension Double {
    fileprivate var int64: Int64 { Int64(self) }
}
