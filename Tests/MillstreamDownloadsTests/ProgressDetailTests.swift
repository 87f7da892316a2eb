import HLSPlaylist
import MediaTiming
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock that advances when a task sleeps, and records the sleeps.
private final class NotingClock: TimeSource {
    private let state = Mutex((now: Duration.seconds(50), slept: [Duration]()))

    var now: Duration { state.withLock { $0.now } }
    /// The durations of the sleeps so far.
    var slept: [Duration] { state.withLock { $0.slept } }

    func sleep(for duration: Duration) async throws {
        state.withLock { state in
            state.now += duration
            state.slept.append(duration)
        }
    }
}

/// Tests the boundaries of the displayed rate, of the limits of rates, and of the progress of selections.
@Suite struct ProgressDetailTests {
    // MARK: Displayed rate

    /// Returns the figures of a run; each arrival is the number of bytes so far, and the time in seconds.
    private static func figures(_ arrivals: [[Int64]]) -> DisplayedProgress {
        var figures = DisplayedProgress(window: .seconds(10))
        for arrival in arrivals { figures.addReceived(arrival[0], at: .seconds(arrival[1])) }
        return figures
    }

    /// Returns a Boolean value that indicates whether a rate is the expected one, apart from rounding.
    private static func isSame(_ rate: Double?, _ expected: Double?) -> Bool {
        guard let rate, let expected else { return rate == nil && expected == nil }
        return abs(rate - expected) < 0.001
    }

    /// The rate is known from the third second after the first bytes on, until nothing has arrived for longer than the window.
    @Test(
        arguments: [(3_999, nil), (4_000, 1_000), (14_000, 3_000.0 / 13), (14_001, nil)] as [(Int64, Double?)]
    )
    func rateIsKnownWithinItsTimes(milliseconds: Int64, expected: Double?) {
        let figures = Self.figures([[0, 0], [1_000, 1], [4_000, 4]])
        let rate = figures.rate(at: .milliseconds(milliseconds))
        #expect(Self.isSame(rate, expected), "\(String(describing: rate))")
    }

    @Test func oneArrivalHasNoRate() {
        #expect(Self.figures([[0, 0], [5, 1]]).rate(at: .seconds(5)) == nil)
        #expect(Self.figures([]).rate(at: .seconds(5)) == nil)
    }

    /// The same number of bytes is no arrival.
    @Test func numberThatDoesNotChangeIsNoArrival() {
        let figures = Self.figures([[0, 0], [1_000, 1], [4_000, 4], [4_000, 13]])
        #expect(figures.rate(at: .seconds(15)) == nil)
    }

    /// A number that is smaller belongs to another run.
    @Test func smallerNumberBeginsAnotherMeasurement() {
        let figures = Self.figures([[0, 0], [1_000, 1], [4_000, 4], [500, 5], [1_500, 9]])
        #expect(Self.isSame(figures.rate(at: .seconds(9)), 250))
    }

    /// The measurement begins with the last arrival that is not within the window.
    @Test(
        arguments: [
            ([[3_000, 12]], 12, 2_000.0 / 11), ([[3_000, 12], [4_000, 13]], 13, 2_000.0 / 11),
        ] as [([[Int64]], Int64, Double)]
    )
    func rateIsThatOfTheWindow(later: [[Int64]], now: Int64, expected: Double) {
        let figures = Self.figures([[0, 0], [1_000, 1], [2_000, 2]] + later)
        let rate = figures.rate(at: .seconds(now))
        #expect(Self.isSame(rate, expected), "\(String(describing: rate))")
    }

    // MARK: Limits of rates

    /// If a download and its session both have a limit, the download waits for the lower limit.
    @Test func bytesCountForBothLimits() async throws {
        let time = NotingClock()
        let session = RateLimiter(RateLimit(BitRate(bitsPerSecond: 8_000_000)), time: time)
        let limited = RateLimiter(RateLimit(BitRate(bitsPerSecond: 16_000_000)), time: time, within: session)
        try await limited.waitAfterReceiving(1_000_000)
        #expect(time.slept == [.seconds(1)])
        let unlimited = RateLimiter(nil, time: time, within: session)
        try await unlimited.waitAfterReceiving(1_000_000)
        #expect(time.slept == [.seconds(1), .seconds(1)])
        // No wait follows a buffer without bytes.
        try await unlimited.waitAfterReceiving(0)
        #expect(time.slept.count == 2)
    }

    @Test func limiterWithoutLimitsNeverWaits() async throws {
        let time = NotingClock()
        let limiter = RateLimiter(nil, time: time)
        try await limiter.waitAfterReceiving(1_000_000)
        #expect(time.slept.isEmpty && limiter.fetchCount(atMost: 5) == 5)
    }

    // MARK: Concurrency

    /// A process that is killed loses the files that are being stored.
    @Test(arguments: [(1, 1), (2, 1), (3, 1), (4, 2), (6, 3), (64, 32)])
    func halfAsManyFilesAreStoredAsAreReceived(receiving: Int, storing: Int) {
        #expect(AssetDownload.storingCount(receiving: receiving) == storing)
    }

    // MARK: Selections

    /// The number of the current selection in the catalog can be larger than that of the last one.
    @Test(arguments: [(0, 0, 12.5), (1, 1, 62.5), (2, 1, 62.5), (7, 1, 62.5)] as [(Int, Int, Double)])
    func selectionIsOneOfTheDownload(number: Int, index: Int, percent: Double) {
        let progress = DownloadProgress(
            loadedTimeRanges: MediaTimeRangeSet(),
            duration: MediaTime(seconds: 8),
            bytes: .zero,
            percent: 25,
            expectedBytes: nil,
            receivedBytes: .zero
        ).ofSelection(number, of: 2)
        #expect(progress.selection == DownloadProgress.SelectionPosition(index: index, count: 2))
        #expect(progress.percent == percent)
    }

    // MARK: Target durations

    private static func targetDuration(_ lines: String) throws -> Duration {
        let playlist = try MediaPlaylist(parsing: Array("#EXTM3U\n\(lines)".utf8))
        return RecordingRun.targetDuration(of: playlist)
    }

    /// Without a declared target duration, the last segment has it.
    @Test func targetDurationIsAtLeastASecond() throws {
        #expect(try Self.targetDuration("#EXT-X-MEDIA-SEQUENCE:5\n") == .seconds(2))
        #expect(try Self.targetDuration("#EXTINF:3,\n0.ts\n#EXTINF:5,\n1.ts\n") == .seconds(5))
        #expect(try Self.targetDuration("#EXTINF:0.5,\n0.ts\n") == .seconds(1))
        #expect(try Self.targetDuration("#EXT-X-TARGETDURATION:1\n#EXTINF:3,\n0.ts\n") == .seconds(1))
    }
}
