import ArgumentParser
import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamDownloads
import PlaylistEditing
import ReportFormat
import ResourceAddressing

/// The options that `millstream download` and `millstream record` share, and the run of both.
struct DownloadOptions: ParsableArguments {
    @OptionGroup var library: LibraryFlags

    @Option(
        name: .long,
        help: "The title (default: that of a stored asset, otherwise that in the media file, or derived from the URL)."
    )
    var title: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The image that represents the asset: a PNG, JPEG, GIF or WebP file of at most 8 MiB.",
            valueName: "file"
        ),
        completion: .file()
    )
    var artwork: String?

    @Option(name: .long, help: "Download the lowest variant with at least this bit rate, such as 900k.")
    var minBandwidth: String?

    @Option(name: .long, help: "Download the best variant with at most this height in pixels.")
    var maxHeight: Int?

    @Option(
        name: .long,
        help: "The variants to download: all, best or lowest (default: best).",
        completion: .list(["all", "best", "lowest"])
    )
    var variants: String?

    @Option(
        name: .long,
        help: "Download the lowest variant with at least this width and height in pixels, such as 1280x720."
    )
    var minSize: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            A condition for variants, such as peak-rate<=5M, average-rate<3M, frame-rate>30, width>=1280, height<=720, \
            channels>=6, sample-rate=48000, video-range=PQ, video-range=HDR or codec=hvc1; may be repeated.
            """,
            valueName: "condition"
        )
    )
    var qualifier: [String] = []

    @Flag(name: .long, help: "Prefer variants with more than two audio channels.")
    var preferMultichannel = false

    @Flag(name: .long, help: "Prefer variants with lossless audio.")
    var preferLossless = false

    @Option(
        name: .long,
        help:
            "The audio to download: comma-separated languages, names or LANGUAGE:NAME (a comma in a name is written %2C), all, default or none."
    )
    var audio: String = "default"

    @Option(
        name: .long,
        help:
            "The subtitles to download: comma-separated languages, names or LANGUAGE:NAME (a comma in a name is written %2C), all, default or none."
    )
    var subtitles: String = "all"

    @Option(name: .long, help: "The number of simultaneous downloads, 1 to 64.")
    var jobs: Int = 6

    @OptionGroup var limits: DownloadLimitFlags<NewDownloadLimits>

    @Option(
        name: .long,
        help:
            "The session of the download (default: command-line): a name under which downloads are listed, paused, resumed and canceled together."
    )
    var session: String?

    @Flag(name: .long, help: "Hand the download to millstream serve instead of running it, and print its identifier.")
    var queue = false

    @Option(name: .long, help: "The priority among the downloads that wait; those with the highest start first.")
    var priority: Int = 0

    @Flag(
        name: .long,
        help: "Delete stored segments of the stream that are not in the selection, such as those of another time range."
    )
    var replace = false

    @OptionGroup var reportFormat: ReportFormatFlags

    @Flag(name: .long, help: "Hide progress.")
    var quiet = false

    @OptionGroup(title: "Edits") var edits: DownloadEditFlags

    @OptionGroup(title: "DASH") var dash: DASHFlags

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    var json: Bool { reportFormat.isJSON }

    func validate() throws {
        guard [minBandwidth, maxHeight.map(String.init), minSize, variants].compactMap({ $0 }).count <= 1 else {
            throw ValidationError("--min-bandwidth, --max-height, --min-size and --variants cannot be combined")
        }
        guard (1...64).contains(jobs) else { throw ValidationError("--jobs must be between 1 and 64") }
        guard artwork?.isEmpty != true else { throw ValidationError("--artwork must be the path of an image") }
        guard !queue || session == nil else { throw ValidationError("--queue and --session cannot be combined") }
        _ = try selection()
    }

    /// Runs the download or recording of a source, and prints its progress and result.
    ///
    /// - Parameters:
    ///   - source: The source as the user gave it.
    ///   - requested: The options of the download.
    ///   - verifyOutput: A closure that is called with the asset before its media is loaded, and whose error ends the download; not for
    ///     a download that is queued.
    /// - Returns: The asset, and the directories of its media playlists that the selection has, or `nil` for all; `nil` if the
    ///   download is queued.
    /// - Throws: ``DownloadError``, ``StorageError``, an error of `verifyOutput`, or `ValidationError` for standard input.
    @discardableResult
    func run(
        _ source: String,
        _ requested: DownloadConfiguration,
        verifyOutput: @escaping @Sendable (StoredAsset) throws -> Void = { _ in }
    ) async throws -> (asset: StoredAsset, folders: Set<String>?)? {
        guard source != "-" else { throw ValidationError("standard input cannot be downloaded: give a URL or a file") }
        let library = try library.open()
        let address = try PlaylistSource.address(source)
        if queue, let file = requested.fileSource(besides: address) {
            throw ValidationError("--queue cannot hand over a download of a file: \(file.filePath ?? file.text)")
        }
        let printer = DownloadPrinter(requested, printsJSON: json, isQuiet: quiet)
        let identifier = queue ? DownloadSession.serverIdentifier : session ?? Self.defaultSession
        let (isQueued, isQuiet, printsJSON, dash) = (queue, quiet, json, dash)
        let evictions = library.observeEvictions { printer.showEviction($0) }
        defer { withExtendedLifetime(evictions) {} }
        do {
            let others = try edits.plan(locatesSources: false).sources
            let (configuration, notes) = try continuing(requested, from: address, in: library)
            let former =
                configuration.recording == nil ? try library.asset(differingInSignatureFrom: address) : nil
            typealias Stored = (asset: StoredAsset, folders: Set<String>?)
            let stored: Stored? = try await http.withLoading(source: source, others: others) { loading in
                let session = try DownloadSession.forCommand(
                    identifier,
                    library,
                    loader: dash.bridging(loading),
                    appliesStoragePolicy: !isQueued
                )
                guard !isQueued else {
                    let isRecording = configuration.recording != nil
                    let id = try await session.enqueue(address, configuration: configuration)
                    printer.display.end()
                    for note in notes { StandardError.write(note) }
                    try noteContinuation(of: former, from: address, in: library)
                    if printsJSON {
                        try StandardOutput.writeLine(.fields(["event": .string("queued"), "id": .string(id)]))
                    } else {
                        try StandardOutput.writeLine("\(id)")
                    }
                    let task = session.tasks.first { $0.id == id }
                    if let refusal = try await task?.refusalInItsProcess(in: session) { throw refusal }
                    if !isQuiet, !printsJSON {
                        let verb: TerminalText = isRecording ? "recorded" : "downloaded"
                        StandardError.write("queued; it is \(verb) while millstream serve runs with this library\n")
                    }
                    return nil
                }
                guard configuration.recording == nil else {
                    // An interruption is a usual end of a recording.
                    return try await Interruption.finishing {
                        let known = Set(session.tasks.map(\.id))
                        let isNewAsset = try library.asset(source: address) == nil
                        let task = try await session.makeTask(address, configuration: configuration)
                        let isNew = !known.contains(task.id)
                        try await task.verify(in: session, isNew: isNew, isNewAsset: isNewAsset, verifyOutput)
                        // A recording that another process makes is not continued.
                        for note in notes { StandardError.write(note) }
                        return (try await printer.record(task, in: session, isNew: isNew), nil) as Stored
                    }.result
                }
                return try await Interruption.cancelling {
                    try await session.stoppingWhenCanceled {
                        var attempt = 1
                        while true {
                            let running = try await follow(
                                address,
                                or: former,
                                configuration,
                                library,
                                printer,
                                verifyOutput
                            )
                            if let running { return running }
                            let known = Set(session.tasks.map(\.id))
                            let isNewAsset = try former == nil && library.asset(source: address) == nil
                            let task: DownloadTask
                            do {
                                task = try await session.makeTask(address, configuration: configuration)
                            } catch let error as DownloadError
                                where error.detail == StorageError.Code.busy.rawValue && attempt < Self.maximumAttempts
                            {
                                // Another process has begun the same download since, which is followed then.
                                attempt += 1
                                try await Task.sleep(for: Self.attemptInterval)
                                continue
                            }
                            let isNew = !known.contains(task.id)
                            try await task.verify(in: session, isNew: isNew, isNewAsset: isNewAsset, verifyOutput)
                            try noteContinuation(of: former, from: address, in: library)
                            let asset = try await printer.run(task, in: session)
                            return (asset, task.folders) as Stored
                        }
                    }
                }
            }
            guard let stored else { return nil }
            try printer.showResult(stored.asset, in: library)
            if !quiet, let note = stored.asset.note(onSelection: requested.selection) {
                StandardError.write("\(note)\n")
            }
            return stored
        } catch {
            let assetID = (try? library.asset(source: address))??.id
            // The session of this command has ended, so that its own task has no claim any more.
            let goesOn = (try? library.isDownloadRunning(ofAsset: assetID)) ?? false
            let explained = edits.explaining(printer.explaining(error, isKept: assetID != nil, goesOn: goesOn))
            let error = Failure.naming(explained, source, at: address)
            printer.showFailure(error, of: assetID)
            throw error
        }
    }

    /// Says that a download continues an asset, if the source has replaced that of the asset.
    private func noteContinuation(
        of former: StoredAsset?,
        from source: ResourceAddress,
        in library: AssetLibrary
    ) throws {
        guard let former, !quiet, !json, try library.asset(source: source)?.id == former.id else { return }
        StandardError.write(
            "the asset \(former.id) is continued, whose source differs only in its signature: \(former.title)\n"
        )
    }

    /// Returns the options of a download or recording with the selection of the recording that it continues, and the lines that say so.
    ///
    /// - Throws: ``Failure`` if a recording has another selection; `StorageError` if the catalog cannot be read.
    private func continuing(
        _ configuration: DownloadConfiguration,
        from source: ResourceAddress,
        in library: AssetLibrary
    ) throws -> (configuration: DownloadConfiguration, notes: [TerminalText]) {
        guard configuration.recording != nil, let recording = try RecordingContinuation(of: source, in: library) else {
            return (configuration, [])
        }
        var continued = configuration
        continued.selection = try recording.selection(for: configuration.selection, besides: Self.defaultSelection)
        return (continued, quiet || json ? [] : recording.notes(configuration))
    }

    /// Follows the download of the same source and selection that another process runs, if its output can be written.
    ///
    /// - Returns: The complete asset; `nil` if no process runs such a download.
    private func follow(
        _ source: ResourceAddress,
        or former: StoredAsset?,
        _ configuration: DownloadConfiguration,
        _ library: AssetLibrary,
        _ printer: DownloadPrinter,
        _ verifyOutput: (StoredAsset) throws -> Void
    ) async throws -> (asset: StoredAsset, folders: Set<String>?)? {
        let sessions = try DownloadSession.allForListing(in: library)
        func isSame(_ task: DownloadTask) -> Bool {
            let other = task.configuration
            let isSameSource = task.address == source || task.assetID == former?.id
            return isSameSource && other.recording == nil && other.selections == configuration.selections
        }
        func found(in session: DownloadSession) -> DownloadTask? {
            session.tasks.first { isSame($0) && $0.isAttended }
        }
        guard let session = sessions.first(where: { found(in: $0) != nil }), let task = found(in: session) else {
            for session in sessions { await session.invalidate() }
            return nil
        }
        for other in sessions where other !== session { await other.invalidate() }
        do {
            try verifyOutput(library.asset(task.assetID))
        } catch {
            await session.invalidate()
            throw error
        }
        if !quiet, !json {
            if task.state == .failed {
                let reason = task.error.map { Failure.namingFiles(in: $0.message) } ?? "unknown error"
                StandardError.write("the download of another process has failed (\(reason)); it is tried again there\n")
            }
            StandardError.write(
                "another process downloads this stream; its progress is shown, and it goes on after Ctrl-C\n"
            )
        }
        do {
            // The process that runs the download has other options; the image belongs to the asset.
            if let data = configuration.artwork { try library.setArtwork(AssetArtwork(data), of: task.assetID) }
            let asset = try await printer.follow(task, in: session)
            let folders = task.folders
            await session.invalidate()
            return asset.map { ($0, folders) }
        } catch {
            await session.invalidate()
            throw error
        }
    }

    /// The number of attempts to begin a download while another process uses the asset: it may have begun the same one.
    private static let maximumAttempts = 8
    /// The time between two attempts.
    private static let attemptInterval = Duration.milliseconds(250)

    /// The selection of a command without options for the selection.
    private static let defaultSelection = DownloadSelection(variants: .best, audio: .defaults, subtitles: .all)

    /// The identifier of the session of this command.
    private static let defaultSession = "command-line"

    /// Returns the options of the download.
    func configuration() throws -> DownloadConfiguration {
        var configuration = try limits.applied(
            to: DownloadConfiguration(selection: selection(), title: title, maximumConcurrentFetches: jobs)
        )
        configuration.artwork = try artwork.map { try Self.image(at: $0) }
        configuration.replacesStoredSegments = replace
        configuration.priority = priority
        return configuration
    }

    /// Returns the image in a file.
    ///
    /// - Throws: ``Failure`` if the file cannot be read, which is invalid input; `StorageError` if it is no image that can be stored.
    private static func image(at path: String) throws -> Data {
        do throws(StorageError) {
            return try AssetArtwork(contentsOf: URL(fileURLWithPath: path)).data
        } catch {
            guard error.code == .disk else { throw error }
            throw Failure(.badInput, error.code.rawValue, "the file \(error.message)")
        }
    }

    func selection() throws -> DownloadSelection {
        var selection = DownloadSelection()
        if let minBandwidth {
            guard let rate = BitRate(minBandwidth) else {
                throw ValidationError("--min-bandwidth must be a bit rate, such as 900k")
            }
            selection.variants = .minimumBandwidth(rate)
        } else if let maxHeight {
            guard maxHeight > 0 else { throw ValidationError("--max-height must be a height in pixels above 0") }
            selection.variants = .maximumHeight(maxHeight)
        } else if let minSize {
            guard let size = Resolution(minSize), size.width > 0, size.height > 0 else {
                throw ValidationError("--min-size must be a width and a height in pixels, such as 1280x720")
            }
            selection.variants = .minimumSize(size)
        } else {
            switch variants {
            case "all": selection.variants = .all
            case "best", nil: selection.variants = .best
            case "lowest": selection.variants = .lowest
            default: throw ValidationError("--variants must be all, best or lowest")
            }
        }
        guard let audio = DownloadSelection.Languages(audio), let subtitles = DownloadSelection.Languages(subtitles)
        else { throw ValidationError("--audio and --subtitles must be languages, names, all, default or none") }
        selection.audio = audio
        selection.subtitles = subtitles
        selection.qualifiers = try qualifier.map { text in
            guard let condition = VariantQualifier(text) else {
                throw ValidationError("--qualifier must be a condition, such as peak-rate<=5M: \(text)")
            }
            return condition
        }
        selection.prefersMultichannelAudio = preferMultichannel
        selection.prefersLosslessAudio = preferLossless
        selection.edits = try edits.plan()
        if edits.subtitlesOnly {
            selection.variants = .none
            selection.audio = .none
        }
        return selection
    }
}
