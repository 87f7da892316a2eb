import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests that transfers of downloads wait for the players of other processes; another library object on the same directory
/// represents another process.
@Suite struct PlaybackActivityTests {
    /// A transport that never answers.
    private struct SilentTransport: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try await Task.sleep(for: .seconds(3_600))
            throw CancellationError()
        }
    }

    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private func another() throws -> AssetLibrary { try AssetLibrary(directory: temporary.directory) }

    private static func reception(_ name: String, in library: AssetLibrary) -> FileReception {
        FileReception("\(library.packagePath("a"))/media/\(name)")
    }

    /// Creates the rule for the transfer of a file.
    private static func transfer(
        _ name: String,
        into library: AssetLibrary,
        _ simulation: Simulation
    ) -> PlaybackPrecedence {
        PlaybackPrecedence(reception(name, in: library), in: library, time: simulation)
    }

    /// Waits for a hundred buffers, one each second, as a player does.
    private static func receiveBuffers(in library: AssetLibrary, _ simulation: Simulation) async throws {
        for _ in 0..<100 {
            let wait = library.playback.begin()
            defer { library.playback.end(wait) }
            try await simulation.sleep(for: .seconds(1))
        }
    }

    private var lockFile: String { temporary.directory.path + "/playing" }

    @Test(arguments: [false, true]) func transferWaitsForAPlayer(playerOnlyReads: Bool) async throws {
        let player = try playerOnlyReads ? AssetLibrary(reading: temporary.directory) : another()
        let (library, simulation) = (temporary.library, Simulation())
        try await simulation.run {
            var transfer = Self.transfer("0.ts", into: library, simulation)
            try await transfer.waitBeforeRequest()
            #expect(simulation.now == .zero)
            let wait = player.playback.begin()
            _ = simulation.schedule(after: .seconds(2)) { player.playback.end(wait) }
            try await transfer.waitBeforeRequest()
            #expect(simulation.now >= .seconds(2) && simulation.now <= .milliseconds(2_500))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: lockFile)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    /// Otherwise a player would wait for a file that another process does not request because of the player.
    @Test func playerThatWaitsForTheFileDoesNotDelayIt() async throws {
        let (library, player, simulation) = (temporary.library, try another(), Simulation())
        try await simulation.run {
            var (transfer, other) = (
                Self.transfer("0.ts", into: library, simulation), Self.transfer("1.ts", into: library, simulation)
            )
            let (wait, more) = (
                player.playback.begin(for: Self.reception("0.ts", in: player)), player.playback.begin()
            )
            try await transfer.waitBeforeRequest()
            try await transfer.leaveNetwork(canContinue: false)
            #expect(simulation.now == .zero)
            player.playback.end(more)
            _ = simulation.schedule(after: .seconds(1)) { player.playback.end(wait) }
            try await other.waitBeforeRequest()
            #expect(simulation.now >= .seconds(1) && simulation.now <= .milliseconds(1_500))
        }
    }

    /// Without another request, a transfer that receives nothing would fail.
    @Test func transferThatCannotBeContinuedPausesForALimitedTime() async throws {
        let (library, player, simulation) = (temporary.library, try another(), Simulation())
        try await simulation.run {
            var transfer = Self.transfer("0.ts", into: library, simulation)
            let wait = player.playback.begin()
            try await transfer.leaveNetwork(canContinue: false)
            #expect(simulation.now == .seconds(15))
            player.playback.end(wait)
        }
    }

    /// Reads a buffer each interval until the transfer has to end or the duration is over.
    private static func receive(
        _ transfer: inout PlaybackPrecedence,
        for duration: Duration,
        each interval: Duration,
        _ simulation: Simulation
    ) async throws {
        let end = simulation.now + duration
        while simulation.now < end {
            try await simulation.sleep(for: interval)
            try await transfer.leaveNetwork(canContinue: true)
        }
    }

    @Test(arguments: [1, 40, 400], [false, true])
    func transferThatCanBeContinuedEndsForAPlayer(milliseconds: Int, isOtherProcess: Bool) async throws {
        let (library, simulation) = (temporary.library, Simulation())
        let player = isOtherProcess ? try another() : library
        let interval = Duration.milliseconds(milliseconds)
        try await simulation.run {
            var transfer = Self.transfer("0.ts", into: library, simulation)
            try await Self.receive(&transfer, for: .seconds(2), each: interval, simulation)
            let begin = simulation.now
            let wait = player.playback.begin()
            await #expect(throws: PlaybackPrecedence.Interruption.self) {
                try await Self.receive(&transfer, for: .seconds(5), each: interval, simulation)
            }
            // It is noticed at the next buffer, and the transfer ends at the first one that arrives 250 ms later.
            #expect(simulation.now - begin >= .milliseconds(250))
            #expect(simulation.now - begin <= .milliseconds(250) + interval + interval)
            player.playback.end(wait)
        }
    }

    /// Over a fast network, a player waits for a moment for each segment.
    @Test(arguments: [1, 40, 400], [false, true])
    func shortWaitsOfAPlayerEndNoTransfer(milliseconds: Int, isOtherProcess: Bool) async throws {
        let (library, simulation) = (temporary.library, Simulation())
        let player = isOtherProcess ? try another() : library
        let interval = Duration.milliseconds(milliseconds)
        try await simulation.run {
            var transfer = Self.transfer("0.ts", into: library, simulation)
            for _ in 0..<10 {
                let wait = player.playback.begin()
                _ = simulation.schedule(after: .milliseconds(200)) { player.playback.end(wait) }
                try await Self.receive(&transfer, for: .seconds(2), each: interval, simulation)
            }
        }
    }

    /// The players of this process are looked at each 100 ms, and those of others each 250 ms.
    @Test func transferLooksAtThePlayersAtIntervals() async throws {
        let (library, player, simulation) = (temporary.library, try another(), Simulation())
        try await simulation.run {
            var transfer = Self.transfer("0.ts", into: library, simulation)
            let own = library.playback.begin()
            _ = simulation.schedule(after: .milliseconds(250)) { library.playback.end(own) }
            try await transfer.waitBeforeRequest()
            #expect(simulation.now == .milliseconds(300))
            // It continues after the second look that finds no player.
            let wait = player.playback.begin()
            _ = simulation.schedule(after: .milliseconds(100)) { player.playback.end(wait) }
            try await transfer.waitBeforeRequest()
            #expect(simulation.now == .milliseconds(800))
        }
    }

    /// Players have a quarter of a second to receive what they wait for.
    @Test func transferEndsAfterAQuarterOfASecond() async throws {
        let (library, simulation) = (temporary.library, Simulation())
        try await simulation.run {
            var transfer = Self.transfer("0.ts", into: library, simulation)
            let wait = library.playback.begin()
            await #expect(throws: PlaybackPrecedence.Interruption.self) {
                try await Self.receive(&transfer, for: .seconds(5), each: .milliseconds(1), simulation)
            }
            #expect(simulation.now == .milliseconds(251))
            library.playback.end(wait)
        }
    }

    /// A suspended process keeps its locks.
    @Test func playerThatReceivesNothingDelaysForAMinute() async throws {
        let (library, player, simulation) = (temporary.library, try another(), Simulation())
        try await simulation.run {
            var (transfer, next) = (
                Self.transfer("0.ts", into: library, simulation), Self.transfer("1.ts", into: library, simulation)
            )
            let wait = player.playback.begin()
            try await transfer.waitBeforeRequest()
            let end = simulation.now
            #expect(end >= .seconds(60) && end <= .seconds(61))
            try await next.waitBeforeRequest()
            #expect(simulation.now == end)
            // The process has been continued.
            player.playback.end(wait)
            let again = player.playback.begin()
            _ = simulation.schedule(after: .seconds(2)) { player.playback.end(again) }
            try await next.waitBeforeRequest()
            #expect(simulation.now >= end + .seconds(2))
        }
    }

    @Test func playerThatReceivesBuffersDelaysLonger() async throws {
        let (library, player, simulation) = (temporary.library, try another(), Simulation())
        try await simulation.run {
            var transfer = Self.transfer("0.ts", into: library, simulation)
            async let playing: Void = Self.receiveBuffers(in: player, simulation)
            try await simulation.sleep(for: .milliseconds(500))
            try await transfer.waitBeforeRequest()
            #expect(simulation.now >= .seconds(100))
            try await playing
        }
    }

    @Test func canceledRequestOfAPlayerDelaysNoLonger() async throws {
        let (library, player) = (temporary.library, try another())
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let reception = Self.reception("0.ts", in: library)
        library.playback.prepareForOthers()
        let transport = AssetTransport(player, id: id, origin: SilentTransport())
        let request = TransportRequest(ResourceAddress("https://origin.example/other.ts"), kind: .segment)
        let playing = Task { try await transport.send(request) }
        while !player.playback.isWaiting { try await Task.sleep(for: .milliseconds(5)) }
        #expect(library.playback.mediaAwaitedElsewhere(reception, at: .zero) == .other)
        // A process does not see its own waits.
        #expect(player.playback.mediaAwaitedElsewhere(reception, at: .zero) == .none)
        playing.cancel()
        await #expect(throws: CancellationError.self) { try await playing.value }
        #expect(library.playback.mediaAwaitedElsewhere(reception, at: .zero) == .none)
    }

    /// A player changes nothing in the library, and a download needs no file.
    @Test(arguments: [false, true]) func withoutTheFileNothingWaits(isFolder: Bool) async throws {
        if isFolder { try FileManager.default.createDirectory(atPath: lockFile, withIntermediateDirectories: false) }
        let (library, player, simulation) = (temporary.library, try another(), Simulation())
        let path = lockFile
        try await simulation.run {
            let wait = player.playback.begin()
            #expect(FileManager.default.fileExists(atPath: path) == isFolder)
            var transfer = Self.transfer("0.ts", into: library, simulation)
            try await transfer.waitBeforeRequest()
            #expect(simulation.now == .zero)
            player.playback.end(wait)
        }
    }
}
