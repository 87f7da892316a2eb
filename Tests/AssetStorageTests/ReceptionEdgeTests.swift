import Foundation
import MediaTransport
import NIOCore
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests the readers of files that another request or another process receives.
@Suite(.timeLimit(.minutes(1))) struct ReceptionEdgeTests {
    private let temporary: TemporaryLibrary
    private let path: String

    init() throws {
        temporary = try TemporaryLibrary()
        path = temporary.directory.path + "/file"
    }

    private var library: AssetLibrary { temporary.library }

    /// Returns the bytes of the first attempt of a reception, beginning at an offset.
    private func buffers(_ reception: FileReception, from offset: Int64 = 0) -> FollowedBuffers {
        FollowedBuffers(
            reception: reception,
            attempt: 1,
            offset: offset,
            address: ResourceAddress(TemporaryLibrary.origin + "0.ts"),
            reader: ReceptionReader(reception),
            activity: library.playback
        )
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    // MARK: Bytes

    @Test func onlyBytesThatWereWrittenAreRead() async throws {
        try write("0123456789", to: path + ".part")
        let reception = FileReception(path)
        reception.begin(length: 10, written: 4)
        var iterator = buffers(reception, from: 1).makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first.map { String(buffer: $0) } == "123")
        reception.setWritten(6)
        let second = try await iterator.next()
        #expect(second.map { String(buffer: $0) } == "45")
        // The file has its final name when it is stored.
        try FileManager.default.moveItem(atPath: path + ".part", toPath: path)
        reception.end(.stored(length: 8))
        let third = try await iterator.next()
        #expect(third.map { String(buffer: $0) } == "67")
        let end = try await iterator.next()
        #expect(end == nil)
        var whole = buffers(reception).makeAsyncIterator()
        let stored = try await whole.next()
        #expect(stored.map { String(buffer: $0) } == "01234567")
        #expect(!library.playback.isWaiting)
    }

    @Test func readerWaitsForTheNextBytes() async throws {
        try write("0123456789", to: path + ".part")
        let reception = FileReception(path)
        reception.begin(length: 10, written: 4)
        let (start, playback) = (buffers(reception, from: 4), library.playback)
        let next = Task {
            var iterator = start.makeAsyncIterator()
            return try await iterator.next().map { String(buffer: $0) }
        }
        while !playback.isWaiting { try await Task.sleep(for: .milliseconds(1)) }
        reception.setWritten(6)
        let text = try await next.value
        #expect(text == "45" && !playback.isWaiting)
    }

    @Test func readerOfAnEndedAttemptRepeatsItsRequest() async throws {
        try write("0123456789", to: path + ".part")
        let changes: [(FileReception) -> Void] = [
            { $0.begin(length: nil, written: 9) }, { $0.interrupt() }, { $0.end(.failed) },
        ]
        for change in changes {
            let reception = FileReception(path)
            reception.begin(length: 10, written: 9)
            change(reception)
            // A phase without a response is not waited for.
            let start = buffers(reception)
            let error = await #expect(throws: TransportError.self) {
                var iterator = start.makeAsyncIterator()
                _ = try await iterator.next()
            }
            #expect(error?.code == .connectionLost && error?.address == start.address)
            #expect(!library.playback.isWaiting)
        }
    }

    @Test func removedFileIsALostConnection() async throws {
        let reception = FileReception(path)
        reception.begin(length: 10, written: 4)
        let start = buffers(reception)
        let error = await #expect(throws: TransportError.self) {
            var iterator = start.makeAsyncIterator()
            _ = try await iterator.next()
        }
        #expect(error?.code == .connectionLost && error?.message == "the file was removed")
    }

    // MARK: Claims

    @Test func fileOfAnotherProcessIsFollowedFromItsFirstByte() async throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let resource = try #require(try library.missingResources(id).first)
        let library = library
        let other = try AssetLibrary(directory: temporary.directory)
        let theirs = other.reception(of: resource, id).reception
        #expect(other.claim(theirs, of: resource, id) == .granted)
        theirs.begin(length: nil, written: 0)
        let reception = library.reception(of: resource, id).reception
        let claim = Task { try await library.follow(reception, of: resource, id) }
        let begun = try await reception.waitForResponse()
        #expect(begun == .receiving(attempt: 1, length: nil, written: 0))
        try write("zer", to: temporary.url(resource.path + ".part", of: id).path)
        let written = FileReception.Phase.receiving(attempt: 1, length: nil, written: 3)
        _ = try await reception.wait { $0 == written }
        theirs.interrupt()
        _ = try await reception.wait { $0 == .waiting }
        try temporary.store([resource], of: id)
        other.endReception(of: resource, id, length: 4)
        let result = try await claim.value
        #expect(result == .stored(length: 4))
    }

    // MARK: Players

    @Test func onlyAWritableLibraryCreatesTheFileOfPlayers() throws {
        let path = temporary.directory.path + "/" + PlaybackActivity.fileName
        try AssetLibrary(reading: temporary.directory).playback.prepareForOthers()
        #expect(FileInspection.size(path) == nil)
        library.playback.prepareForOthers()
        #expect(FileInspection.size(path) == 0)
    }

    @Test func playerOfAnotherProcessIsAwaitedForAMinute() throws {
        library.playback.prepareForOthers()
        let player = try AssetLibrary(directory: temporary.directory)
        let reception = FileReception("\(library.packagePath("a"))/media/0.ts")
        let wait = player.playback.begin()
        for (milliseconds, awaited) in [
            (1_000, .other), (60_999, .other), (61_000, .none), (61_001, .none),
        ] as [(Int, PlaybackActivity.AwaitedMedia)] {
            let now = Duration.milliseconds(milliseconds)
            #expect(library.playback.mediaAwaitedElsewhere(reception, at: now) == awaited)
        }
        player.playback.end(wait)
        let again = player.playback.begin(for: FileReception("\(player.packagePath("a"))/media/0.ts"))
        #expect(library.playback.mediaAwaitedElsewhere(reception, at: .seconds(200)) == .file)
        player.playback.end(again)
        #expect(library.playback.mediaAwaitedElsewhere(reception, at: .seconds(200)) == .none)
    }

    // MARK: Claims of files

    @Test func lookAtTheClaimsCreatesNoFile() throws {
        let id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        let names = try temporary.names(of: id)
        #expect(!library.isBeingReceived("media/000000.ts", id))
        #expect(!library.isBeingReceived("media/000000.ts", "none"))
        #expect(try temporary.names(of: id) == names)
    }

    /// Processes of different versions claim the same bytes.
    @Test(
        arguments: [
            ("media/000000.ts", 2_601_903_322_514_835_564), ("media/000001.ts", 4_082_985_624_853_071_778),
            ("audio-0/000000.m4s", 1_542_707_307_806_037_036),
        ] as [(String, Int64)]
    )
    func claimOfAFileIsThatOfAllVersions(path: String, position: Int64) {
        #expect(ClaimedFile(path).position == position)
    }
}
