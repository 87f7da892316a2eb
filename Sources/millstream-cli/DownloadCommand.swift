import ArgumentParser
import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamDownloads
import ReportFormat
import UnixSignals

#if Playback
import MediaDecoding
#endif

/// The command `millstream download`.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download a stream for offline playback.",
        discussion: """
            Files that are stored are not downloaded again: after an interruption, run the same command to resume.

            Example: millstream download https://example.com/multivariant.m3u8 --max-height 720 --subtitles en
            """
    )

    @Argument(help: "The URL of a playlist or DASH manifest.")
    var source: String

    @OptionGroup var library: LibraryFlags

    @Option(name: .long, help: "The title of the asset (default: derived from the URL).")
    var title: String?

    @Option(name: .long, help: "Download the lowest variant with at least this bit rate, such as 900k.")
    var minBandwidth: String?

    @Option(name: .long, help: "Download the best variant with at most this height in pixels.")
    var maxHeight: Int?

    @Option(name: .long, help: "The variants to download: all, best or lowest (default: best).")
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
            A condition for variants, such as peak-rate<=5M, width>=1280, height<=720, channels>=6, video-range=PQ or \
            codec=hvc1; may be repeated.
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
        help: "The audio to download: comma-separated languages or LANGUAGE:NAME, all, default or none."
    )
    var audio: String = "default"

    @Option(
        name: .long,
        help: "The subtitles to download: comma-separated languages or LANGUAGE:NAME, all, default or none."
    )
    var subtitles: String = "all"

    @Option(name: .long, help: "The number of simultaneous downloads, 1 to 64.")
    var jobs: Int = 6

    @Option(name: .long, help: "The maximum rate in bits per second, such as 2M (default: no limit).")
    var limitRate: String?

    @Option(
        name: .long,
        help: "The maximum size of the download, such as 20G; decimal multiples of bytes (default: 1 TiB)."
    )
    var maxSize: String?

    @Option(name: .long, help: "The space to leave free on the disk, such as 1G (default: 268M).")
    var minFreeSpace: String?

    @Flag(name: .long, help: "Print a line of JSON for each event.")
    var json = false

    @Flag(name: .long, help: "Hide progress.")
    var quiet = false

    @OptionGroup(title: "DASH") var dash: DASHFlags

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    func validate() throws {
        guard [minBandwidth, maxHeight.map(String.init), minSize, variants].compactMap({ $0 }).count <= 1 else {
            throw ValidationError("--min-bandwidth, --max-height, --min-size and --variants cannot be combined")
        }
        guard (1...64).contains(jobs) else { throw ValidationError("--jobs must be between 1 and 64") }
        guard source != "-" else { throw ValidationError("standard input cannot be downloaded: give a URL or a file") }
        _ = try selection()
        _ = try limits()
        _ = try maximumRate()
    }

    mutating func run() async throws {
        let library = try library.open()
        var options = DownloadTask.Options(
            selection: try selection(),
            title: title,
            maximumConcurrentFetches: jobs,
            limits: try limits()
        )
        options.maximumRate = try maximumRate()
        #if Playback
        options.canDecode = { DecodingPipeline.canDecode($0) }
        #endif
        let taskOptions = options
        let address = try PlaylistSource.address(source)
        let display = ProgressDisplay(isQuiet: quiet || json)
        let printsJSON = json
        let isQuiet = quiet
        let limit = try VariantLimit(selection().variants)
        do {
            let asset = try await http.withLoading(source: source) { loading in
                let loading = dash.bridging(loading)
                return try await Interruption.cancelling {
                    try await DownloadTask(address, into: library, loader: loading, options: taskOptions).run { event in
                        if !isQuiet, case .resolved(let id, _) = event,
                            let renditions = try? library.asset(id).renditions
                        {
                            limit?.notice(for: renditions).map { StandardError.write("\($0)\n") }
                        }
                        Self.report(event, display: display, printsJSON: printsJSON)
                    }
                }
            }
            display.end()
            if !json, !quiet { try StandardOutput.writeLine("\(asset.id)  \(asset.title)  \(asset.bytes)") }
        } catch {
            display.end()
            if json {
                let failure = Failure(error, arguments: [])
                // A failure of the output must not replace the original error.
                try? StandardOutput.writeLine(
                    ReportValue.fields([
                        "event": .string("failed"),
                        "id": (try? library.asset(source: address))?.map { .string($0.id) } ?? nil,
                        "code": .string(failure.code),
                        "message": .string(failure.message),
                    ])
                )
            }
            throw error
        }
    }

    private static func report(_ event: DownloadTask.Event, display: ProgressDisplay, printsJSON: Bool) {
        let (name, id, progress): (String, String, DownloadProgress?) =
            switch event {
            case .resolved(let id, let progress): ("resolved", id, progress)
            case .progress(let id, let progress): ("progress", id, progress)
            case .completed(let asset): ("completed", asset.id, DownloadProgress(asset))
            }
        guard printsJSON else {
            if let progress { display.show(progress) }
            return
        }
        let head = [
            ReportValue.Field(name: "event", value: .string(name)), ReportValue.Field(name: "id", value: .string(id)),
        ]
        // A failure of the output cancels the download.
        try? StandardOutput.writeLine(ReportValue.object(head + (progress?.fields ?? [])))
    }

    private func limits() throws -> DownloadLimits {
        var limits = DownloadLimits()
        if let maxSize {
            guard let size = Self.size(maxSize), size > .zero else {
                throw ValidationError("--max-size must be a number of bytes above 0, such as 20G")
            }
            limits.assetSize = size
        }
        if let minFreeSpace {
            guard let size = Self.size(minFreeSpace) else {
                throw ValidationError("--min-free-space must be a number of bytes, such as 1G")
            }
            limits.freeSpace = size
        }
        return limits
    }

    private func maximumRate() throws -> BitRate? {
        guard let limitRate else { return nil }
        guard let rate = BitRate(limitRate), rate.bitsPerSecond >= 8_000 else {
            throw ValidationError("--limit-rate must be a bit rate of at least 8k, such as 2M")
        }
        return rate
    }

    /// Returns a number of bytes with an optional decimal multiple, as for bit rates.
    private static func size(_ text: String) -> ByteCount? { BitRate(text).map { ByteCount($0.bitsPerSecond) } }

    private func selection() throws -> DownloadSelection {
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
        else { throw ValidationError("--audio and --subtitles must be languages, all, default or none") }
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
        return selection
    }
}

/// The handling of Ctrl-C and SIGTERM: they cancel the work, which preserves its results, and the program then reports
/// the interruption.
enum Interruption {
    /// Runs `body`, which SIGINT and SIGTERM cancel.
    ///
    /// - Throws: The error of `body`, or `CancellationError` after a signal.
    static func cancelling<Result: Sendable>(
        _ body: @Sendable @escaping () async throws -> Result
    ) async throws -> Result {
        let (result, isInterrupted) = try await finishing(body)
        guard !isInterrupted else { throw CancellationError() }
        return result
    }

    /// Runs `body`, which SIGINT and SIGTERM cancel, and preserves the result that it returns when it is canceled.
    ///
    /// - Returns: The result of `body`, and a Boolean value that indicates whether a signal canceled it.
    /// - Throws: The error of `body`; `CancellationError` if `body` has no result after a signal.
    static func finishing<Result: Sendable>(
        _ body: @Sendable @escaping () async throws -> Result
    ) async throws -> (result: Result, isInterrupted: Bool) {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let sources = OutputSupervisor.shared.observeInterruptions([SIGINT, SIGTERM])
        defer { for source in sources { source.cancel() } }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in signals { return nil }
                return nil
            }
            defer { group.cancelAll() }
            if let result = try await group.next() ?? nil {
                try Task.checkCancellation()
                return (result, false)
            }
            group.cancelAll()
            // Canceled work can fail with another error than `CancellationError`, such as that of an aborted request.
            guard let result = try? await group.next() ?? nil else { throw CancellationError() }
            try Task.checkCancellation()
            return (result, true)
        }
    }
}
