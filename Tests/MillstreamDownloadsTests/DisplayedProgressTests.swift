import MediaTiming
import ReportFormat
import Testing

@testable import MillstreamDownloads

/// Tests of the percentage and the rate that a user sees.
@Suite struct DisplayedProgressTests {
    private func progress(percent: Double, share: Double?) -> DownloadProgress {
        var progress = DownloadProgress(
            loadedTimeRanges: MediaTimeRangeSet(),
            duration: MediaTime(seconds: 8),
            bytes: .zero,
            percent: percent,
            expectedBytes: nil,
            receivedBytes: .zero
        )
        progress.share = share
        return progress
    }

    /// The share of the bytes decreases if the estimated size of the download increases.
    @Test func percentageDoesNotDecrease() {
        var figures = DisplayedProgress(window: .seconds(10))
        let shares = [0.25, 0.5, 0.499, 0.75, 1]
        let percentages = shares.map { figures.percent(of: progress(percent: 50, share: $0)) }
        #expect(percentages == [25, 50, 50, 75, 99.9])
        let complete = figures.percent(of: progress(percent: 100, share: 0.5))
        #expect(complete == 100)
    }

    @Test func percentageOfReportsIsTheGivenOne() {
        let fields = progress(percent: 50, share: 0.25).fields(percent: 30.06)
        #expect(fields.first { $0.name == "percent" }?.value == .real(30))
    }

    /// At a limit of 1 MB/s, a burst of bytes is followed by the time that the limit gives it.
    @Test(arguments: [(65_000, 65), (500_000, 500)])
    func rateIsThatOfTheLimitAlthoughBytesArriveInBursts(size: Int, interval: Int) {
        var figures = DisplayedProgress(window: .seconds(10))
        var rates: [Double] = []
        for time in stride(from: 0, through: 60_000, by: 200) {
            let count = time == 0 ? 0 : time / interval + 1
            figures.addReceived(Int64(count * size), at: .milliseconds(time))
            if let rate = figures.rate(at: .milliseconds(time)) { rates.append(rate) }
        }
        #expect(rates.count > 250)
        #expect(rates.allSatisfy { $0 > 900_000 && $0 < 1_060_000 }, "\(rates)")
    }

    /// The time without bytes does not lower the rate of those that arrive after it.
    @Test func rateAfterPauseDoesNotIncludeIt() {
        var figures = DisplayedProgress(window: .seconds(10))
        for second in 0...5 { figures.addReceived(Int64(second * 1_000), at: .seconds(second)) }
        for second in 65...67 { figures.addReceived(Int64((second - 59) * 1_000), at: .seconds(second)) }
        let early = figures.rate(at: .seconds(67))
        #expect(early == nil)
        figures.addReceived(9_000, at: .seconds(68))
        let rate = figures.rate(at: .seconds(68))
        #expect(rate == 1_000)
    }

    @Test func rateIsUnknownWithoutArrivals() {
        var figures = DisplayedProgress(window: .seconds(10))
        for second in 0...5 { figures.addReceived(Int64(second * 1_000), at: .seconds(second)) }
        let rate = figures.rate(at: .seconds(5))
        #expect(rate == 1_000)
        let later = figures.rate(at: .seconds(16))
        #expect(later == nil)
        var early = DisplayedProgress(window: .seconds(10))
        early.addReceived(0, at: .zero)
        early.addReceived(1_000, at: .seconds(1))
        early.addReceived(2_000, at: .seconds(2))
        let unknown = early.rate(at: .seconds(2))
        #expect(unknown == nil)
    }
}
