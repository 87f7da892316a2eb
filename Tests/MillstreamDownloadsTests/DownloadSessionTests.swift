import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// Tests sessions and their tasks; another session on another library object represents another process.
@Suite(.timeLimit(.minutes(10))) struct DownloadSessionTests {
    private let temporary: TemporaryLibrary
    private static let source = ResourceAddress("https://origin.example/film/top.m3u8")
    private static let base = "https://origin.example/film/"
    /// The beginning of a JPEG image.
    private static let image = Data([0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 3, 0, 2])

    init() throws { temporary = try TemporaryLibrary() }

    private static func media(_ names: String...) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + names.map { "#EXTINF:4,\n\($0)\n" }.joined() + "#EXT-X-ENDLIST\n"
    }

    private var origin: ScriptedTransport {
        ScriptedTransport(texts: [
            Self.source.text: """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,AUDIO="a"
            high.m3u8

            """,
            Self.base + "low.m3u8": Self.media("l0.ts", "l1.ts"), Self.base + "high.m3u8": Self.media("h0.ts", "h1.ts"),
            Self.base + "en.m3u8": Self.media("en0.aac", "en1.aac"),
            Self.base + "ko.m3u8": Self.media("ko0.aac", "ko1.aac"),
            Self.base + "l0.ts": "low 0", Self.base + "l1.ts": "low 1", Self.base + "h0.ts": "high 0",
            Self.base + "h1.ts": "high 1", Self.base + "en0.aac": "english 0", Self.base + "en1.aac": "english 1",
            Self.base + "ko0.aac": "korean 0", Self.base + "ko1.aac": "korean 1",
        ])
    }

    private func session(
        _ transport: any Transport,
        identifier: String = "films",
        library: AssetLibrary? = nil,
        concurrent: Int = 3,
        resumesAutomatically: Bool = true,
        canDecode: @escaping @Sendable (_ codec: String) -> Bool = { _ in true }
    ) throws -> DownloadSession {
        var configuration = DownloadSession.Configuration()
        configuration.canDecode = canDecode
        configuration.maximumConcurrentTasks = concurrent
        configuration.resumesAutomatically = resumesAutomatically
        return try DownloadSession(
            identifier: identifier,
            library: library ?? temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        )
    }

    /// Each reading of the catalog may copy it, and there is nothing to take care of.
    @Test func catalogOfALibraryThatIsOpenForReadingIsNotPolled() async throws {
        let time = SystemTimeSource()
        let runner = SessionRunner(
            identifier: "films",
            library: try AssetLibrary(reading: temporary.directory),
            loader: ResourceLoader(ScriptedTransport(texts: [:])),
            configuration: DownloadSession.Configuration(),
            time: time
        )
        // It ends although the session exists.
        await SessionRunner.watch(Weak(runner), time)
        withExtendedLifetime(runner) {}
    }

    private func anotherLibrary() throws -> AssetLibrary { try AssetLibrary(directory: temporary.directory) }

    /// Waits until a condition holds; a suite has a limit of time.
    private func wait(until condition: () throws -> Bool) async throws {
        while try !condition() { try await SystemTimeSource().sleep(for: .milliseconds(10)) }
    }

    private func mediaRequests(_ origin: ScriptedTransport) -> [String] {
        origin.requests.map(\.address.text).filter { !$0.hasSuffix(".m3u8") }.map {
            String($0.dropFirst(Self.base.count))
        }
    }

    // MARK: Selections

    @Test func nextMediaSelectionsAddWhatIsMissing() async throws {
        let top = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="sub.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Director, 50% & cast",LANGUAGE="en",URI="ko.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="other",NAME="Other",LANGUAGE="de",URI="de.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a",SUBTITLES="s"
            low.m3u8

            """
        let origin = ScriptedTransport(texts: [
            Self.source.text: top, Self.base + "low.m3u8": Self.media("l0.ts"),
            Self.base + "en.m3u8": Self.media("en0.aac"), Self.base + "ko.m3u8": Self.media("ko0.aac"),
            Self.base + "sub.m3u8": Self.media("0.vtt"), Self.base + "l0.ts": "low", Self.base + "en0.aac": "english",
            Self.base + "ko0.aac": "commentary", Self.base + "0.vtt": "WEBVTT\n",
        ])
        let session = try session(origin)
        let first = DownloadSelection(audio: .defaults, subtitles: .none)
        let task = try await session.makeTask(Self.source, configuration: DownloadConfiguration(selection: first))
        task.resume()
        let id = try await task.value().id
        var added: [String] = []
        while let next = try temporary.library.nextMediaSelection(of: id) {
            added.append("\(next.characteristic.rawValue) \(next.language ?? "") \(next.name)")
            #expect(DownloadSelection(next.selection.description) == next.selection)
            let configuration = DownloadConfiguration(selection: next.selection)
            let task = try await session.makeTask(Self.source, configuration: configuration)
            task.resume()
            try await task.value()
            guard added.count < 5 else { break }
        }
        #expect(added == ["audible en Director, 50% & cast", "legible en English"])
        #expect(Set(mediaRequests(origin)).count == mediaRequests(origin).count, "no file is fetched again")
        #expect(try temporary.library.asset(id).renditions.count == 4)
    }

    /// An origin whose variants have different groups of audio renditions.
    private var originWithGroups: ScriptedTransport {
        let names = ["low", "high", "en-low", "ko-low", "fr-low", "en-high", "ko-high"]
        var texts = [
            Self.source.text: """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en-low.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="Korean",LANGUAGE="ko",URI="ko-low.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="French",LANGUAGE="fr",URI="fr-low.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en-high.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="Korean",LANGUAGE="ko",URI="ko-high.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="low"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1920x1080,AUDIO="high"
            high.m3u8

            """
        ]
        for name in names {
            texts[Self.base + name + ".m3u8"] = Self.media("\(name).ts")
            texts[Self.base + name + ".ts"] = "media of \(name)"
        }
        return ScriptedTransport(texts: texts)
    }

    /// Downloads the selections of an asset, and then all options that it lacks.
    ///
    /// - Returns: The addresses of the media that was fetched for the options, and the identifier of the asset.
    private func fetchAllOptions(
        of origin: ScriptedTransport,
        after selections: [DownloadSelection],
        then change: (String) throws -> Void = { _ in }
    ) async throws -> (fetched: [String], id: String) {
        let session = try session(origin)
        var id = ""
        for selection in selections {
            let task = try await session.makeTask(
                Self.source,
                configuration: DownloadConfiguration(selection: selection)
            )
            task.resume()
            id = try await task.value().id
        }
        try change(id)
        let before = mediaRequests(origin).count
        var count = 0
        while let next = try temporary.library.nextMediaSelection(of: id), count < 10 {
            count += 1
            let task = try await session.makeTask(
                Self.source,
                configuration: DownloadConfiguration(selection: next.selection)
            )
            task.resume()
            try await task.value()
        }
        #expect(try temporary.library.nextMediaSelection(of: id) == nil)
        return (Array(mediaRequests(origin).dropFirst(before)), id)
    }

    @Test func nextMediaSelectionsOfSeveralVariantsEnd() async throws {
        let low = DownloadSelection(variants: .minimumBandwidth(BitRate(bitsPerSecond: 1)), audio: .defaults)
        let high = DownloadSelection(variants: .best, audio: .defaults)
        let (fetched, id) = try await fetchAllOptions(of: originWithGroups, after: [low, high])
        #expect(fetched.sorted() == ["fr-low.ts", "ko-high.ts", "ko-low.ts"])
        #expect(try temporary.library.asset(id).renditions.count == 7)
    }

    @Test func nextMediaSelectionsFetchNoVariantInsteadOfOneThatCannotBeDecoded() async throws {
        let top = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.4D401E",AUDIO="a"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="hvc1.2.4.L123.B0",AUDIO="a"
            high.m3u8

            """
        let transport = origin
        transport.setResponses(for: Self.source.text, .bytes(Array(top.utf8)))
        let configuration = DownloadConfiguration(selection: DownloadSelection(audio: .defaults))
        let task = try await session(transport).makeTask(Self.source, configuration: configuration)
        task.resume()
        let id = try await task.value().id
        let next = try #require(try temporary.library.nextMediaSelection(of: id))
        let other = try session(transport, identifier: "others", canDecode: { !$0.hasPrefix("hvc1") })
        let second = try await other.makeTask(
            Self.source,
            configuration: DownloadConfiguration(selection: next.selection)
        )
        second.resume()
        try await second.value()
        #expect(mediaRequests(transport).sorted() == ["en0.aac", "en1.aac", "h0.ts", "h1.ts", "ko0.aac", "ko1.aac"])
    }

    @Test func nextMediaSelectionsDoNotFetchRemovedVariants() async throws {
        let all = DownloadSelection(variants: .all, audio: .defaults)
        let best = DownloadSelection(variants: .best, audio: .defaults)
        let (fetched, id) = try await fetchAllOptions(of: originWithGroups, after: [all, best]) { id in
            _ = try temporary.library.shrink(id, to: .maximumHeight(720))
        }
        #expect(fetched.sorted() == ["fr-low.ts", "ko-low.ts"])
        #expect(try temporary.library.asset(id).renditions.map(\.folder).contains("variant-1") == false)
    }

    // MARK: Options

    @Test func failedTaskThatIsRequestedAgainHasTheNewOptions() async throws {
        let session = try session(origin)
        var configuration = DownloadConfiguration(limits: DownloadLimits(assetSize: ByteCount(3)))
        configuration.details = "film 7"
        configuration.artwork = Self.image
        let task = try await session.makeTask(Self.source, configuration: configuration)
        task.resume()
        let error = await #expect(throws: DownloadError.self) { try await task.value() }
        #expect(error?.code == .tooLarge)
        await session.invalidate()
        // A later process raises the limit, as the error proposes.
        let later = try self.session(origin, library: anotherLibrary(), resumesAutomatically: false)
        let again = try await later.makeTask(
            Self.source,
            configuration: DownloadConfiguration(maximumConcurrentFetches: 2)
        )
        #expect(again.id == task.id && again.configuration.maximumConcurrentFetches == 2)
        #expect(again.configuration.limits == DownloadLimits())
        #expect(again.details == "film 7" && again.artwork == Self.image)
        again.resume()
        #expect(try await again.value().state == .complete)
    }

    // MARK: Events

    @Test func eventsAreReportedInOrder() async throws {
        let session = try session(origin)
        let task = try await session.makeTask(Self.source)
        #expect(task.state == .suspended && task.title == "top" && session.tasks.map(\.id) == [task.id])
        let events = task.events
        task.resume()
        var names: [String] = []
        var loaded = MediaTimeRangeSet()
        for await event in events {
            switch event {
            case .stateChanged(let state): names.append(state.rawValue)
            case .mediaSelectionResolved(let selection):
                names.append("selection")
                // By default, the default audio only.
                #expect(selection.audio == ["en"] && selection.subtitles == [])
            case .variantsChosen(let variants):
                names.append("variants")
                #expect(variants.map { $0.bandwidth?.bitsPerSecond } == [3_000_000])
            case .locationChosen(let location):
                names.append("location")
                #expect(location == task.location && location == "packages/\(task.assetID)")
            case .loaded(let new, let progress):
                for range in new.ranges { loaded.insert(range) }
                #expect(loaded == progress.loadedTimeRanges)
                if names.last != "loaded" { names.append("loaded") }
            case .keyNotVerified: names.append("key")
            case .waitingForStream, .segmentsLost, .metadataOmitted: names.append("recording")
            case .selectionCompleted(let number): names.append("selection \(number)")
            case .finished(let location):
                names.append("finished")
                #expect(location == task.location)
            case .completed(let summary, let error):
                names.append("completed")
                #expect(error == nil && summary.mediaResourceRequestCount == 4 && summary.recoverableErrorCount == 0)
                #expect(summary.bytes.bytes == 30 && summary.variants.count == 1 && summary.duration > .zero)
            }
        }
        #expect(
            names == [
                "waiting", "running", "selection", "variants", "location", "loaded", "selection 0", "completed",
                "finished",
                "completed",
            ]
        )
        #expect(loaded.totalDuration == MediaTime(seconds: 8))
        #expect(try await task.value().state == .complete)
        #expect(session.tasks.isEmpty)
        #expect(try temporary.library.downloads().isEmpty)
    }

    @Test func playlistsAreLoadedOnce() async throws {
        let origin = origin
        let session = try session(origin)
        let task = try await session.makeTask(Self.source)
        #expect(mediaRequests(origin).isEmpty)
        task.resume()
        try await task.value()
        #expect(origin.requests.count == 3 + 4)
    }

    @Test func taskForALiveStreamIsRefused() async throws {
        let live = ScriptedTransport(texts: [Self.source.text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n"])
        let session = try session(live)
        let error = await #expect(throws: DownloadError.self) { try await session.makeTask(Self.source) }
        #expect(error?.code == .live && live.requests.count == 1)
        #expect(session.tasks.isEmpty)
        #expect(try temporary.library.assets().isEmpty)
    }

    // MARK: Requests

    @Test func suspendedTaskContinuesWithTheNextFile() async throws {
        let origin = origin
        let transport = BlockingTransport(origin, blocking: Self.base + "h1.ts")
        let session = try session(transport)
        let task = try await session.makeTask(Self.source)
        task.resume()
        try await wait { task.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4) }
        task.suspend()
        try await wait { (try? temporary.library.lock(task.assetID)) != nil }
        #expect(task.state == .suspended)
        #expect(try temporary.library.asset(task.assetID).state == .partial)
        transport.release()
        task.resume()
        let asset = try await task.value()
        #expect(asset.state == .complete)
        #expect(mediaRequests(origin).count { $0 == "h0.ts" } == 1)
    }

    @Test func canceledTaskKeepsItsFilesAndReportsItsEnd() async throws {
        let transport = BlockingTransport(origin, blocking: Self.base + "h1.ts")
        let session = try session(transport)
        let task = try await session.makeTask(Self.source)
        let events = task.events
        task.resume()
        try await wait { task.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4) }
        task.cancel()
        var last: [String] = []
        for await event in events {
            if case .finished = event { last.append("finished") }
            if case .completed(_, let error) = event { last.append(error?.code.rawValue ?? "none") }
        }
        #expect(last == ["finished", "canceled"] && task.state == .canceled)
        let error = await #expect(throws: DownloadError.self) { try await task.value() }
        #expect(error?.code == .canceled)
        #expect(session.tasks.isEmpty)
        #expect(try temporary.library.downloads().isEmpty)
        let kept = try temporary.library.asset(task.assetID)
        #expect(kept.state == .partial && kept.bytes.bytes > 0)
    }

    @Test func failedTaskKeepsItsErrorOverARestart() async throws {
        let origin = origin
        origin.setResponses(for: Self.base + "h1.ts", .failure(TransportError(.status, "not found", status: 404)))
        do {
            let session = try session(origin)
            let task = try await session.makeTask(Self.source)
            task.resume()
            let error = await #expect(throws: DownloadError.self) { try await task.value() }
            #expect(error?.code == .transport && task.state == .failed)
            await session.invalidate()
        }
        origin.setResponses(for: Self.base + "h1.ts", .text("high 1"))
        let later = try session(origin, library: anotherLibrary())
        let task = try #require(later.tasks.first)
        // A failed task is not continued automatically.
        #expect(task.state == .failed && task.error?.code == .transport && task.error?.detail == "http-status")
        task.resume()
        #expect(try await task.value().state == .complete)
    }

    // MARK: Restoration

    @Test func tasksAreRestoredByTheirIdentifier() async throws {
        let transport = BlockingTransport(origin, blocking: Self.base + "h1.ts")
        var configuration = DownloadConfiguration(title: "The Film", maximumConcurrentFetches: 1)
        configuration.details = "stream 7"
        configuration.artwork = Self.image
        configuration.priority = 5
        let first = try session(transport)
        let task = try await first.makeTask(Self.source, configuration: configuration)
        task.resume()
        try await wait { task.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4) }
        await first.invalidate()
        let id = task.id

        let foreign = try session(origin, identifier: "others", library: anotherLibrary())
        #expect(foreign.tasks.isEmpty)

        let origin = origin
        let second = try session(origin, library: anotherLibrary())
        let restored = try #require(second.tasks.first)
        #expect(restored.id == id && restored.title == "The Film" && restored.details == "stream 7")
        #expect(restored.artwork == Self.image && restored.priority == 5 && restored.address == Self.source)
        #expect(restored.configuration.maximumConcurrentFetches == 1)
        // It continues by itself, and only the missing file is fetched.
        #expect(try await restored.value().state == .complete)
        #expect(mediaRequests(origin).contains("h0.ts") == false)
    }

    @Test func restoredTasksWaitIfTheSessionDoesNotResumeThem() async throws {
        let transport = BlockingTransport(origin, blocking: Self.base + "h1.ts")
        let first = try session(transport)
        let task = try await first.makeTask(Self.source)
        task.resume()
        try await wait { task.progress.bytes > .zero }
        await first.invalidate()
        let origin = origin
        let second = try session(origin, library: anotherLibrary(), resumesAutomatically: false)
        let restored = try #require(second.tasks.first)
        #expect(restored.state == .waiting && !restored.isAttended && origin.requests.isEmpty)
        restored.resume()
        #expect(try await restored.value().state == .complete)
    }

    @Test func interruptedTaskCanBePausedAndIsThenNotContinued() async throws {
        let first = try session(BlockingTransport(origin, blocking: Self.base + "h1.ts"))
        let task = try await first.makeTask(Self.source)
        task.resume()
        try await wait { task.progress.bytes > .zero }
        await first.invalidate()
        let command = try session(origin, library: anotherLibrary(), resumesAutomatically: false)
        command.tasks.first?.suspend()
        #expect(try temporary.library.downloads().map(\.state) == [.suspended])
        await command.invalidate()
        let later = try session(origin, library: anotherLibrary())
        #expect(later.tasks.map(\.state) == [.suspended])
    }

    @Test func taskForAnAssetThatIsBeingDownloadedDoesNotDisturbIt() async throws {
        let transport = BlockingTransport(origin, blocking: Self.base + "h1.ts")
        let session = try session(transport)
        let task = try await session.makeTask(Self.source)
        task.resume()
        try await wait { task.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4) }
        let selection = DownloadSelection(variants: .best, audio: .all, subtitles: .all)
        let other = try await session.makeTask(
            Self.source,
            configuration: DownloadConfiguration(selection: selection)
        )
        other.resume()
        transport.release()
        #expect(try await task.value().state == .complete)
        #expect(try await other.value().renditions.count == 3)
    }

    @Test func assetThatWasDeletedIsDownloadedCompletely() async throws {
        let session = try session(origin)
        let task = try await session.makeTask(Self.source)
        try temporary.library.delete(task.assetID)
        task.resume()
        // Either the deletion ends the task, or the asset is downloaded anew; no asset without media counts as complete.
        _ = try? await task.value()
        for asset in try temporary.library.assets() { #expect(asset.state == .partial || asset.bytes > .zero) }
    }

    @Test func requestsReachTheProcessThatRunsTheTask() async throws {
        let transport = BlockingTransport(origin, blocking: Self.base + "h1.ts")
        let running = try session(transport)
        let task = try await running.makeTask(Self.source)
        task.resume()
        try await wait { task.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4) }
        let other = try session(origin, library: anotherLibrary())
        let seen = try #require(other.tasks.first)
        #expect(seen.isAttended && seen.progress.percent > 0)
        seen.suspend()
        try await wait { task.state == .suspended }
        seen.resume()
        try await wait { task.state == .running }
        seen.cancel()
        try await wait { running.tasks.isEmpty && other.tasks.isEmpty }
        #expect(task.state == .canceled && seen.state == .canceled)
    }

    @Test func networksThatAreNotAcceptedAreNotUsed() async throws {
        let transport = BlockingTransport(origin, blocking: Self.base + "h1.ts")
        let network = NetworkStatus(cost: [.cellular, .expensive])
        var options = DownloadSession.Configuration()
        options.network = network
        let session = try DownloadSession(
            identifier: "films",
            library: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: options
        )
        var configuration = DownloadConfiguration()
        configuration.acceptedNetworks = .constrained
        #expect(DownloadConfiguration(stored: try configuration.stored)?.acceptedNetworks == .constrained)
        #expect(try DownloadConfiguration(stored: DownloadConfiguration().stored) == DownloadConfiguration())
        let refused = await #expect(throws: DownloadError.self) {
            try await session.makeTask(Self.source, configuration: configuration)
        }
        #expect((refused?.cause as? TransportError)?.code == .networkRefused)
        network.cost = .constrained
        let task = try await session.makeTask(Self.source, configuration: configuration)
        task.resume()
        try await wait { task.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4) }
        task.suspend()
        try await wait { task.state == .suspended }
        network.cost = .cellular
        transport.release()
        task.resume()
        let failed = await #expect(throws: DownloadError.self) { try await task.value() }
        #expect((failed?.cause as? TransportError)?.code == .networkRefused)
        network.cost = nil
        task.resume()
        #expect(try await task.value().state == .complete)
    }

    @Test func recordingOfADownloadedAssetLeavesNoTask() async throws {
        let session = try session(origin)
        let task = try await session.makeTask(Self.source)
        task.resume()
        try await task.value()
        var configuration = DownloadConfiguration()
        configuration.recording = RecordingOptions()
        let error = await #expect(throws: DownloadError.self) {
            try await session.makeTask(Self.source, configuration: configuration)
        }
        #expect(error?.detail == "not-recorded")
        #expect(session.tasks.isEmpty)
        #expect(try temporary.library.downloads().isEmpty)
    }

    /// Keys of AES-256-GCM have 32 bytes (RFC 8216bis §4.4.4.4), and one URL may be used for keys of both sizes.
    @Test(arguments: [
        ("AES-128", 16, true), ("AES-256-GCM", 32, true), ("AES-128", 32, false), ("AES-256-GCM", 16, false),
    ])
    func keysHaveTheSizeOfTheirMethod(method: String, size: Int, isStored: Bool) async throws {
        let transport = ScriptedTransport(texts: [
            Self.source.text:
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=\(method),URI=\"k\"\n#EXTINF:4,\ns.ts\n#EXT-X-ENDLIST\n",
            Self.base + "k": String(repeating: "k", count: size), Self.base + "s.ts": "segment",
        ])
        let task = try await session(transport).makeTask(Self.source)
        task.resume()
        guard isStored else {
            let error = await #expect(throws: DownloadError.self) { try await task.value() }
            #expect(error?.message.contains("key") == true, "\(String(describing: error))")
            return
        }
        let asset = try await task.value()
        #expect(try temporary.library.resources(asset.id).map(\.bytes?.bytes) == [Int64(size), 7])
        #expect(temporary.library.isPlayableOffline(asset.id))
    }

    @Test func endOfATaskOfAnotherProcessIsThatOfItsSelection() async throws {
        let transport = BlockingTransport(origin, blocking: Self.base + "h1.ts", Self.base + "l1.ts")
        let running = try session(transport)
        let highest = try await running.makeTask(Self.source)
        highest.resume()
        try await wait { highest.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4) }
        highest.suspend()
        try await wait { highest.state == .suspended }
        let lowest = try await running.makeTask(
            Self.source,
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        )
        let observing = try session(origin, library: anotherLibrary())
        let seen = try #require(observing.tasks.first { $0.id == lowest.id })
        lowest.resume()
        try await wait { seen.folders != nil && seen.progress.percent > 0 }
        #expect(seen.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4))
        transport.release()
        try await lowest.value()
        try await wait { observing.tasks.count == 1 }
        #expect(seen.state == .completed)
        #expect(try temporary.library.asset(highest.assetID).state == .partial)
    }

    @Test func sessionAdoptsWhatAnotherProcessQueues() async throws {
        let daemon = try session(origin)
        let command = try session(origin, library: anotherLibrary(), resumesAutomatically: false)
        let id = try await command.enqueue(Self.source)
        try await wait { daemon.tasks.contains { $0.id == id } }
        let task = try #require(daemon.tasks.first)
        #expect(try await task.value().state == .complete)
        try await wait { command.tasks.isEmpty }
    }

    // MARK: Selections

    @Test func furtherSelectionsAddOnlyWhatIsMissing() async throws {
        let origin = origin
        let session = try session(origin)
        var configuration = DownloadConfiguration(selection: DownloadSelection(variants: .lowest, audio: .some(["en"])))
        configuration.furtherSelections = [DownloadSelection(variants: .best, audio: .some(["ko"]))]
        let task = try await session.makeTask(Self.source, configuration: configuration)
        let events = task.events
        task.resume()
        let asset = try await task.value()
        var completed: [Int] = []
        for await event in events { if case .selectionCompleted(let number) = event { completed.append(number) } }
        #expect(completed == [0, 1])
        #expect(asset.renditions.count == 4 && asset.state == .complete)
        #expect(Set(mediaRequests(origin)).count == 8 && mediaRequests(origin).count == 8)
        // A later task has nothing to fetch.
        let again = try await session.makeTask(Self.source)
        again.resume()
        try await again.value()
        #expect(mediaRequests(origin).count == 8)
    }

    @Test func progressOfSeveralSelectionsDoesNotDecrease() async throws {
        let session = try session(origin)
        var configuration = DownloadConfiguration(selection: DownloadSelection(variants: .lowest, audio: .defaults))
        configuration.furtherSelections = [
            DownloadSelection(variants: .best, audio: .all), DownloadSelection(variants: .lowest, audio: .all),
        ]
        let task = try await session.makeTask(Self.source, configuration: configuration)
        let events = task.events
        task.resume()
        var percents: [Double] = []
        for await event in events {
            if case .loaded(_, let progress) = event { percents.append(progress.percent) }
        }
        #expect(percents == percents.sorted() && percents.last == 100, "\(percents)")
        #expect(percents.contains { (30...35).contains($0) }, "\(percents)")
    }

    @Test func rateOfASessionLimitsItsTasksTogether() async throws {
        let other = ResourceAddress(Self.base + "other.m3u8")
        let origin = ScriptedTransport(texts: [
            Self.source.text: Self.media("a.ts"), other.text: Self.media("b.ts"),
            Self.base + "a.ts": String(repeating: "a", count: 20_000),
            Self.base + "b.ts": String(repeating: "b", count: 20_000),
        ])
        var configuration = DownloadSession.Configuration()
        configuration.maximumRate = BitRate(bitsPerSecond: 160_000)
        let session = try DownloadSession(
            identifier: "films",
            library: temporary.library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        )
        let begun = ContinuousClock.now
        let tasks = [try await session.makeTask(Self.source), try await session.makeTask(other)]
        for task in tasks { task.resume() }
        for task in tasks { try await task.value() }
        // Each task alone takes one second.
        #expect(ContinuousClock.now - begun >= .milliseconds(1_900))
    }

    @Test func sameTaskIsNotCreatedTwice() async throws {
        let session = try session(BlockingTransport(origin, blocking: Self.base + "h1.ts"))
        let task = try await session.makeTask(Self.source)
        let again = try await session.makeTask(Self.source)
        let other = try await session.makeTask(
            Self.source,
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        )
        #expect(again === task && other !== task && other.assetID == task.assetID)
    }

    /// A task that is being canceled is not returned again.
    @Test func assetIsDownloadedAgainAfterItsTaskWasCanceled() async throws {
        let transport = BlockingTransport(origin, blocking: Self.base + "h1.ts")
        let session = try session(transport)
        let task = try await session.makeTask(Self.source)
        task.resume()
        try await wait { task.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4) }
        task.cancel()
        let again = try await session.makeTask(Self.source)
        #expect(again !== task && again.assetID == task.assetID)
        again.resume()
        transport.release()
        #expect(try await again.value().state == .complete)
    }

    @Test(arguments: [
        DownloadSelection(), .standard,
        DownloadSelection(variants: .lowest, audio: .none, subtitles: .some(["en", "a&b:c=%d"])),
        DownloadSelection(variants: .minimumBandwidth(BitRate(bitsPerSecond: 265_000))),
        DownloadSelection(variants: .maximumHeight(720)),
    ])
    func selectionIsReadFromItsDescription(selection: DownloadSelection) throws {
        var selection = selection
        #expect(DownloadSelection(selection.description) == selection)
        selection.qualifiers = [.codec("hvc1"), .width(.atLeast, 5)]
        selection.prefersLosslessAudio = true
        #expect(DownloadSelection(selection.description) == selection)
    }

    @Test func otherTextsAreNoSelections() {
        for text in [
            "variants", "variants=some", "audio=", "min-bandwidth=x", "max-height=-", "min-size=1", "color=red",
        ] {
            #expect(DownloadSelection(text) == nil, "\(text)")
        }
    }
}
