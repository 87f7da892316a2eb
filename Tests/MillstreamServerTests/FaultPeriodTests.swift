import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import NIOCore
import NIOEmbedded
import ReportFormat
import Testing

@testable import MillstreamServer

/// Tests of the periods of simulated faults, and of a fault without a response, with a clock that does not wait.
@Suite(.timeLimit(.minutes(10))) struct FaultPeriodTests {
    private let time = ManualTime()

    /// Returns the context of a request.
    private func context(_ channel: any Channel) -> ServerRequestContext {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ServerRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
    }

    /// Returns the status of a response that is 200 without a fault.
    private func status(_ path: String, _ settings: FaultSettings) async throws -> Int {
        let response = try await FaultInjection(settings)
            .response(toRequestOf: path, context(NIOAsyncTestingChannel())) { Response(status: .ok) }
        return Int(response.status.code)
    }

    private func settings(_ faults: String...) throws -> FaultSettings {
        FaultSettings(try faults.map { try #require(ResponseFault($0)) }, time: time)
    }

    // MARK: Texts

    @Test(
        arguments: [
            ("time=10...20", [10, 19.5], [0, 9.5, 20, 1_000]), ("time=...20", [0, 19.5], [20]),
            ("time=0:01:30...", [90, 1_000_000], [0, 89.5]), ("time=0.5...1.25", [0.5, 1], [0.25, 1.25]),
            ("time=10...20&interval=60", [10, 19.5, 70, 79.5, 610], [0, 9.5, 20, 69.5, 80, 600]),
            ("interval=0:01:00&time=50...70", [50, 69.5, 110, 129.5], [0, 49.5, 70, 109.5, 130]),
            ("requests=1", [0, 1_000], []),
        ] as [(String, [Double], [Double])]
    )
    func periodsContainTheirTimes(text: String, inside: [Double], outside: [Double]) throws {
        let period = try #require(ResponseFault("\(text)&page")).period
        for seconds in inside { #expect(period.contains(.seconds(seconds)), "\(seconds)") }
        for seconds in outside { #expect(!period.contains(.seconds(seconds)), "\(seconds)") }
    }

    @Test(arguments: [
        "time=0...1000000000", "time=999999999...1000000000", "time=1000000000...", "time=0...59.5&interval=60",
        "time=0...1&interval=1000000000",
    ])
    func greatestTimesAreAccepted(text: String) {
        #expect(ResponseFault("\(text)&page") != nil)
    }

    @Test(arguments: [
        "5", "5...5", "...0", "20...10", "-1...5", "x...5", "...", "", "0...1000000001", "1000000001...",
    ])
    func invalidTimeIsNamed(value: String) {
        let error = #expect(throws: ResponseFault.InvalidFault.self) {
            try ResponseFault(parsing: "time=\(value)&page")
        }
        let reason = error?.description ?? ""
        #expect(reason.hasPrefix("time must be time=START...END ("), "\(reason)")
        #expect(reason.hasSuffix("), not time=\(value)"), "\(reason)")
        #expect(reason.contains("at most 1000000000 s"), "\(reason)")
    }

    @Test(
        arguments: [
            ("interval=60&page", "interval requires a period with an end"),
            ("time=10...&interval=60&page", "interval requires a period with an end"),
            ("time=0...60&interval=60&page", "interval must be longer than the period"),
            ("time=0...10&interval=0&page", "interval must be interval=TIME"),
            ("time=0...10&interval=-1&page", "interval must be interval=TIME"),
            ("time=0...10&interval=1000000001&page", "interval must be interval=TIME"),
            ("time=0...10&time=20...30&page", "time occurs twice"), ("time=0...10&interval=60", "it has no effect"),
            ("timeout=1", "timeout must be timeout ("), ("timeout&status=503", "status and timeout exclude each other"),
            ("stall=0&timeout", "stall and timeout exclude each other"),
            ("timeout&delay=1", "delay and timeout exclude each other"),
            ("timeout&rate=8", "rate and timeout exclude each other"),
            ("timeout&corrupt=0", "corrupt and timeout exclude each other"),
        ] as [(String, String)]
    )
    func theReasonIsNamed(text: String, reason: String) {
        let error = #expect(throws: ResponseFault.InvalidFault.self) { try ResponseFault(parsing: text) }
        #expect(error?.description.hasPrefix(reason) == true, "\(error.debugDescription)")
    }

    // MARK: Responses

    @Test func faultAppliesInItsPeriodOnly() async throws {
        // The clock need not begin at zero.
        time.advance(by: .seconds(1_000))
        let settings = try settings("path=*.ts&time=10...20&interval=60&status=503")
        for (step, expected) in [(0, 200), (10, 503), (9.5, 503), (0.5, 200), (50, 503), (10, 200)] as [(Double, Int)] {
            time.advance(by: .seconds(step))
            #expect(try await status("/a.ts", settings) == expected, "\(time.now)")
            #expect(try await status("/a.m3u8", settings) == 200)
        }
    }

    @Test func anotherFaultAppliesOutsideOfThePeriodOfTheFirst() async throws {
        let settings = try settings("time=...10&status=404", "status=503")
        #expect(try await status("/a.ts", settings) == 404)
        time.advance(by: .seconds(10))
        #expect(try await status("/a.ts", settings) == 503)
    }

    @Test func requestsOutsideOfThePeriodAreCounted() async throws {
        let settings = try settings("time=10...&requests=3&status=503")
        #expect(try await status("/a.ts", settings) == 200)
        #expect(try await status("/a.ts", settings) == 200)
        time.advance(by: .seconds(10))
        #expect(try await status("/a.ts", settings) == 503)
        #expect(try await status("/a.ts", settings) == 200)
    }

    @Test func periodsCountFromTheLastChange() async throws {
        let settings = try settings("time=...10&status=404")
        time.advance(by: .seconds(10))
        #expect(try await status("/a.ts", settings) == 200)
        #expect(settings.report.json.contains(#""elapsed":10"#), "\(settings.report.json)")
        try settings.replace(with: ["time=...10&status=404"])
        #expect(settings.report.json.contains(#""elapsed":0"#), "\(settings.report.json)")
        #expect(try await status("/a.ts", settings) == 404)
        time.advance(by: .seconds(2.5))
        #expect(settings.report.json.contains(#""elapsed":2.5"#), "\(settings.report.json)")
        #expect(settings.report.json.hasPrefix(#"{"faults":["time=...10&status=404"],"#))
    }

    @Test func timeoutSendsNoResponseAndClosesTheConnection() async throws {
        let channel = NIOAsyncTestingChannel()
        let injection = FaultInjection(try settings("timeout"))
        let context = context(channel)
        await #expect(throws: CancellationError.self) {
            _ = try await injection.response(toRequestOf: "/a.ts", context) {
                Issue.record("the response is made")
                return Response(status: .ok)
            }
        }
        #expect(time.now == .seconds(300))
        try await channel.closeFuture.get()
    }
}
