import MediaTiming
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests of the consequences of media that cannot be decoded.
@Suite struct UndecodableReportTests {
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
    }

    /// Returns the decided consequences as text, with a target duration of 2 seconds and four segments that may be skipped.
    private func outcomes(_ media: inout UndecodableMedia, appending: [MediaTimeRange] = []) -> [String] {
        let outcomes = media.takeOutcomes(
            appending: appending,
            targetDuration: MediaTime(seconds: 2),
            skippedSegments: 4
        )
        return outcomes.map { outcome in
            switch outcome {
            case .skip(let segment, let error): "skip \(segment.mediaType.rawValue) \(error.code.rawValue)"
            case .fail(let error): "fail \(error.code.rawValue)"
            }
        }
    }

    @Test func mediaOfASegmentThatIsAppendedIsReportedLater() {
        var media = UndecodableMedia()
        media.add(range(4, 5), of: .video)
        media.add(range(9, 10), of: .audio)
        let first = outcomes(&media, appending: [range(4, 8)])
        #expect(first == ["skip audio damaged"] && !media.isEmpty)
        let second = outcomes(&media)
        #expect(second == ["skip video damaged"] && media.isEmpty)
    }

    @Test func messageHasRoundedTimes() throws {
        var media = UndecodableMedia()
        let end = try #require(MediaTime(approximating: 8.933333333333332))
        media.add(MediaTimeRange(start: MediaTime(seconds: 4), end: end), of: .audio)
        let outcomes = media.takeOutcomes(appending: [], targetDuration: MediaTime(seconds: 2), skippedSegments: 4)
        let messages = outcomes.map { outcome in
            switch outcome {
            case .skip(_, let error), .fail(let error): error.message
            }
        }
        #expect(messages == ["media of 4 to 8.933 s could not be decoded"])
    }

    @Test func onlyVideoEndsPlayback() {
        var media = UndecodableMedia()
        media.add(range(0, 60), of: .audio)
        media.add(range(0, 8), of: .video)
        media.add(range(8, 16), of: .video)
        media.add(range(16, 17), of: .video)
        let decided = outcomes(&media)
        #expect(decided == ["skip audio damaged", "skip video damaged", "fail damaged"])
    }
}
