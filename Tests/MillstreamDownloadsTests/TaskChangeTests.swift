import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests requests that meet a task while it waits or stops, and changes of the options of a task.
@Suite(.timeLimit(.minutes(5))) struct TaskChangeTests {
    private typealias Machine = DownloadStateMachine

    // MARK: Decisions

    /// Returns a machine with suspended tasks of different assets.
    private func machine(_ count: Int, concurrent: Int = 1) -> Machine {
        var machine = Machine(maximumConcurrentTasks: concurrent)
        for number in 0..<count {
            _ = machine.handle(.added(id: "\(number)", asset: "asset\(number)", priority: 0, phase: .suspended))
        }
        return machine
    }

    /// Returns a machine whose only task was resumed, and then had other requests.
    private func machine(after requests: Machine.Request...) -> Machine {
        var machine = machine(1)
        for request in [Machine.Request.resume] + requests { _ = machine.handle(.requested("0", request)) }
        return machine
    }

    @Test func waitingTaskIsSuspendedOrCanceledAtOnce() {
        var machine = machine(3)
        for id in ["0", "1", "2"] { _ = machine.handle(.requested(id, .resume)) }
        #expect(
            machine.handle(.requested("1", .suspend)) == [.save("1", .suspended), .report("1", .suspended)]
        )
        #expect(machine.handle(.requested("2", .cancel)) == [.finish("2", .canceled)])
        #expect(machine.handle(.ended("0", .completed)) == [.finish("0", .completed)])
        #expect(machine.phase(of: "1") == .suspended && machine.phase(of: "2") == nil)
    }

    @Test func suspendedTaskIsCanceledAtOnce() {
        var machine = machine(1)
        #expect(machine.handle(.requested("0", .cancel)) == [.finish("0", .canceled)])
    }

    /// The run was told to stop already.
    @Test func stoppingTaskTakesFurtherRequests() {
        var suspended = machine(after: .suspend, .resume)
        #expect(
            suspended.handle(.requested("0", .suspend)) == [
                .save("0", .suspended), .report("0", .stopping(.suspended)),
            ]
        )
        #expect(suspended.handle(.ended("0", .stopped)) == [.report("0", .suspended)])
        let canceled: [Machine.Effect] = [.save("0", .canceled), .report("0", .stopping(.canceled))]
        for var stopping in [machine(after: .suspend), machine(after: .suspend, .resume)] {
            #expect(stopping.handle(.requested("0", .cancel)) == canceled)
            #expect(stopping.handle(.requested("0", .cancel)) == [])
            #expect(stopping.handle(.ended("0", .failed)) == [.finish("0", .canceled)])
        }
    }

    /// The error of a run that was told to stop does not matter.
    @Test func stoppingTaskDoesNotFail() {
        var suspended = machine(after: .suspend)
        #expect(suspended.handle(.ended("0", .failed)) == [.report("0", .suspended)])
        var resumed = machine(after: .suspend, .resume)
        #expect(
            resumed.handle(.ended("0", .failed)) == [.report("0", .waiting), .report("0", .running), .start("0")]
        )
    }

    @Test func taskThatDoesNotRunCannotEnd() {
        var machine = machine(1)
        #expect(machine.handle(.ended("0", .failed)) == [] && machine.phase(of: "0") == .suspended)
        _ = machine.handle(.requested("0", .resume))
        #expect(machine.handle(.ended("0", .failed)) == [.save("0", .failed), .report("0", .failed)])
        #expect(machine.handle(.requested("0", .suspend)) == [] && machine.phase(of: "0") == .failed)
    }

    @Test func runningTaskIsNotHandedOver() {
        var machine = machine(after: .resume)
        #expect(machine.handle(.released("0")) == [] && machine.phase(of: "0") == .running)
        _ = machine.handle(.requested("0", .suspend))
        #expect(machine.handle(.released("0")) == [] && machine.phase(of: "0") == .stopping(.suspended))
    }

    @Test func stoppingTaskThatAnotherProcessRemovedIsNotStoppedAgain() {
        var machine = machine(after: .suspend)
        #expect(machine.handle(.removed("0")) == [] && machine.phase(of: "0") == .stopping(.canceled))
        #expect(machine.handle(.ended("0", .stopped)) == [.finish("0", .canceled)])
    }

    @Test func atLeastOneTaskRuns() {
        var machine = machine(2, concurrent: 0)
        _ = machine.handle(.requested("0", .resume))
        _ = machine.handle(.requested("1", .resume))
        #expect(machine.phase(of: "0") == .running && machine.phase(of: "1") == .waiting)
        #expect(machine.handle(.concurrencyChanged(0)) == [] && machine.handle(.prioritized("none", 1)) == [])
    }

    /// A task that is restored while it waits starts as soon as there is capacity.
    @Test func waitingTaskStartsWhenItIsAdded() {
        var machine = machine(0)
        let first = machine.handle(.added(id: "a", asset: "a", priority: 0, phase: .waiting))
        #expect(first == [.report("a", .running), .start("a")])
        #expect(machine.handle(.added(id: "b", asset: "b", priority: 0, phase: .waiting)) == [])
        #expect(machine.handle(.removed("a")) == [.stop("a")])
        let next = machine.handle(.ended("a", .stopped))
        #expect(next == [.finish("a", .canceled), .report("b", .running), .start("b")])
    }

    // MARK: Options

    private static let base = "https://films.example/"
    /// The beginning of a JPEG image.
    private static let image = Data([0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 2])
    private static let source = ResourceAddress(base + "film.m3u8")
    private static let texts = [
        source.text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n",
        base + "0.ts": "zero", base + "1.ts": "one",
    ]

    private func session(_ transport: any Transport, in library: AssetLibrary) throws -> DownloadSession {
        try DownloadSession(
            identifier: "films",
            library: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        )
    }

    private static var changed: DownloadConfiguration {
        var configuration = DownloadConfiguration(title: "The Film", maximumConcurrentFetches: 2)
        configuration.details = "film 7"
        configuration.artwork = Self.image
        configuration.priority = 4
        return configuration
    }

    @Test func optionsOfATaskThatDoesNotRunAreReplaced() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let session = try session(ScriptedTransport(texts: Self.texts), in: library)
        let task = try await session.makeTask(Self.source)
        #expect(task.title == "film" && task.details.isEmpty && task.priority == 0 && task.artwork == nil)
        let same = try await session.makeTask(Self.source, configuration: Self.changed)
        #expect(same === task && session.tasks.count == 1)
        #expect(task.title == "The Film" && task.details == "film 7" && task.priority == 4)
        #expect(task.artwork == Self.image && task.configuration.maximumConcurrentFetches == 2)
        let record = try #require(try library.downloads().first)
        #expect(record.details == "film 7" && record.priority == 4 && record.artwork == Self.image)
        #expect(DownloadConfiguration(stored: record.options)?.maximumConcurrentFetches == 2)
        #expect(try library.asset(task.assetID).title == "The Film")
        // What the application does not give stays.
        _ = try await session.makeTask(Self.source)
        #expect(task.title == "The Film" && task.details == "film 7" && task.artwork == Self.image)
        await session.invalidate()
    }

    @Test func artworkStaysWithTheAssetAfterTheDownload() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let session = try session(ScriptedTransport(texts: Self.texts), in: library)
        let task = try await session.makeTask(Self.source, configuration: Self.changed)
        #expect(try library.artwork(of: task.assetID)?.data == Self.image)
        task.resume()
        let asset = try await task.value()
        #expect(asset.state == .complete && asset.artworkFormat == .jpeg)
        #expect(try library.downloads().isEmpty)
        #expect(try library.artwork(of: asset.id)?.data == Self.image)
        // A later download without an image does not remove it.
        let again = try await session.makeTask(Self.source)
        again.resume()
        #expect(try await again.value().artworkFormat == .jpeg)
        await session.invalidate()
    }

    @Test func artworkOfATaskThatIsRequestedAgainReplacesThatOfTheAsset() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let session = try session(ScriptedTransport(texts: Self.texts), in: library)
        let task = try await session.makeTask(Self.source, configuration: Self.changed)
        var configuration = Self.changed
        configuration.artwork = Data("GIF89a: an image".utf8)
        let same = try await session.makeTask(Self.source, configuration: configuration)
        #expect(same === task && task.artwork == configuration.artwork)
        #expect(try library.artwork(of: task.assetID)?.data == configuration.artwork)
        await session.invalidate()
    }

    /// The options of the task are the same, but the asset has lost its image.
    @Test func artworkThatTheAssetHasNoLongerIsStoredAgain() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let session = try session(ScriptedTransport(texts: Self.texts), in: library)
        let task = try await session.makeTask(Self.source, configuration: Self.changed)
        try library.setArtwork(nil, of: task.assetID)
        // Without an image, that of the task is not stored again.
        _ = try await session.makeTask(Self.source)
        #expect(try library.artwork(of: task.assetID) == nil)
        let same = try await session.makeTask(Self.source, configuration: Self.changed)
        #expect(same === task)
        #expect(try library.artwork(of: task.assetID)?.data == Self.image)
        await session.invalidate()
    }

    /// A refused image is not stored, and its asset is not loaded.
    @Test(
        arguments: [
            (Data("<svg/>".utf8), "unsupported-artwork"), (Data("GIF89a".utf8), "unsupported-artwork"),
            (Data(count: (8 << 20) + 1), "artwork-too-large"),
        ] as [(Data, String)]
    )
    func artworkThatCannotBeStoredIsRefused(image: Data, code: String) async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let transport = ScriptedTransport(texts: Self.texts)
        let session = try session(transport, in: library)
        var configuration = DownloadConfiguration()
        configuration.artwork = image
        let refused = configuration
        let error = await #expect(throws: DownloadError.self) {
            try await session.makeTask(Self.source, configuration: refused)
        }
        #expect(error?.code == .storage && error?.detail == code)
        #expect(transport.requests.isEmpty && session.tasks.isEmpty)
        #expect(try library.assets().isEmpty)
        await session.invalidate()
    }

    /// A gap is not loaded, so that it is no file.
    @Test func fileIsFoundAmongTheSourcesOfADownload() {
        let file = ResourceAddress("file:///films/break.m3u8")
        var configuration = DownloadConfiguration()
        #expect(configuration.fileSource(besides: Self.source) == nil)
        #expect(configuration.fileSource(besides: file) == file)
        configuration.selection.edits = EditPlan([.prepend("gap:4"), .append(Self.source.text)])
        #expect(configuration.fileSource(besides: Self.source) == nil)
        var further = DownloadSelection()
        further.edits = EditPlan([.prepend(file.text)])
        configuration.furtherSelections = [further]
        #expect(configuration.fileSource(besides: Self.source) == file)
    }

    @Test func optionsOfARunningTaskStay() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let transport = BlockingTransport(ScriptedTransport(texts: Self.texts), blocking: Self.base + "1.ts")
        let session = try session(transport, in: library)
        let task = try await session.makeTask(Self.source)
        task.resume()
        while task.progress.bytes == .zero { try await SystemTimeSource().sleep(for: .milliseconds(10)) }
        let same = try await session.makeTask(Self.source, configuration: Self.changed)
        #expect(same === task && task.title == "film" && task.details.isEmpty)
        #expect(task.configuration.maximumConcurrentFetches == 6)
        transport.release()
        #expect(try await task.value().title == "film")
        await session.invalidate()
    }

    @Test func changesOfATaskAreStored() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let session = try session(ScriptedTransport(texts: Self.texts), in: library)
        let task = try await session.makeTask(Self.source)
        task.details = "film 8"
        task.priority = 9
        let record = try #require(try library.downloads().first)
        #expect(record.details == "film 8" && record.priority == 9)
        #expect(!task.hasEnded && task.isAttended)
        task.cancel()
        #expect(task.hasEnded && task.state == .canceled && session.tasks.isEmpty)
        let error = await #expect(throws: DownloadError.self) { try await task.value() }
        #expect(error?.code == .canceled && error?.address == Self.source)
        for await event in task.events { Issue.record("\(event)") }
        await session.invalidate()
    }

    /// The tasks of a session that has ended stay in the catalog, and are not attended.
    @Test func invalidSessionHasNoTasks() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let session = try session(ScriptedTransport(texts: Self.texts), in: library)
        let task = try await session.makeTask(Self.source)
        await session.invalidate()
        #expect(session.tasks.isEmpty && !task.isAttended && !task.hasEnded)
        #expect(try library.downloads().map(\.id) == [task.id])
        for await (_, event) in session.events { Issue.record("\(event)") }
    }

    // MARK: Imports

    /// Writes a presentation of three parts of a file, one of which is a gap that no file has.
    private func writePresentation(_ folder: URL) throws {
        let playlist = """
            #EXTM3U
            #EXT-X-VERSION:8
            #EXT-X-TARGETDURATION:4
            #EXT-X-BYTERANGE:1000000@0
            #EXTINF:4,
            all.ts
            #EXT-X-BYTERANGE:1000000@1000000
            #EXTINF:4,
            all.ts
            #EXT-X-GAP
            #EXTINF:4,
            gap.ts
            #EXT-X-ENDLIST

            """
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(playlist.utf8).write(to: folder.appendingPathComponent("media.m3u8"))
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        for name in ["all.ts", "gap.ts"] { try Data(bytes).write(to: folder.appendingPathComponent(name)) }
    }

    /// Only the parts that are copied count against the limits of the library.
    @Test func importNeedsTheSpaceOfItsParts() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.directory.appendingPathComponent("Film")
        try writePresentation(folder)
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(4_000_000)))
        let asset = try await AssetImport(folder, into: library).run()
        #expect(asset.state == .complete && asset.bytes == ByteCount(2_000_000))
    }

    @Test func importReportsTheSpaceThatItOccupies() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.directory.appendingPathComponent("Film")
        try writePresentation(folder)
        let first = try await AssetImport(folder, into: library).runMeasured()
        let usage = try library.diskUsage(first.asset.id)
        #expect(first.addedBytes == usage.freeableBytes && first.addedBytes >= ByteCount(2_000_000))
        #expect(first.sharedBytes == usage.occupiedBytes - usage.freeableBytes)
        // Nothing is copied again.
        let second = try await AssetImport(folder, into: library).runMeasured()
        #expect(second.asset.id == first.asset.id && second.addedBytes == .zero)
    }
}
