import Adaptation
import ArgumentParser
import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import Millstream
import MillstreamServer
import PlaybackReporting
import PlaylistEditing
import ReportFormat
import ResourceAddressing

#if Playback
import MediaOutput
#endif

/// The command `millstream play`.
struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play a stream or a file, and report playback metrics.",
        discussion: """
            With --window, the default if there is a display, video is shown in a window with these keys:

            \(keys)

            With --headless, media is decoded, and then discarded or written to files. With --no-decode, media is loaded, \
            variants are selected and the playhead advances as in playback, but nothing is decoded.

            If parts of the stream are in the library, they are played from disk, and stored variants are preferred. \
            Everything else is streamed, with all variants and languages of the source. Files that an unfinished \
            download still needs are stored while they are played. With the identifier of a downloaded asset, only its \
            selection is played. With --conditions, the entire stream is loaded over the simulated network.

            Example: millstream play https://example.com/multivariant.m3u8 --headless --conditions 3G --metrics -
            """
    )

    @Argument(
        help:
            "The URL of a playlist, DASH manifest or media file, a file, the identifier or the folder of a downloaded asset, or - for standard input."
    )
    var source: String

    @Option(name: .long, help: "The base URL of relative URLs in a playlist from standard input.")
    var baseURL: String?

    @Flag(help: "The output mode.")
    var mode: Mode?

    @Flag(name: .long, help: "Open the window in full screen mode; requires --window.")
    var fullScreen = false

    @Flag(name: .long, help: "Mute the audio.")
    var muted = false

    @Option(name: .long, help: ArgumentHelp("The volume in percent, 0 to 100.", valueName: "N"))
    var volume = 100

    @Option(
        name: .long,
        help: ArgumentHelp("Write the frame at a media time to a PNG file; may be repeated.", valueName: "T=FILE.png")
    )
    var screenshot: [String] = []

    @Option(name: .long, help: ArgumentHelp("Write a line with a checksum for each frame.", valueName: "FILE"))
    var checksums: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Write the audio to a WAVE file; requires --headless.", valueName: "FILE.wav")
    )
    var wave: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The playback rate, 0.1 to 32; negative, as --rate=-1, to play backward from --start or the end.",
            valueName: "R"
        )
    )
    var rate = 1.0

    @Option(
        name: .long,
        help: ArgumentHelp("The media time at which playback starts, in seconds or as [HH:]MM:SS.", valueName: "T")
    )
    var start: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The media time at which playback ends, in seconds or as [HH:]MM:SS.", valueName: "T")
    )
    var until: String?

    @Flag(name: .long, help: "Start again at the end, until playback is stopped.")
    var loop = false

    @Flag(name: .long, help: "Wait at the end until playback is stopped. Keys can then still seek back.")
    var keepOpen = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The languages or names of the audio in order of preference, comma-separated, such as en, Commentary or en:Commentary (a comma in a name is written %2C); the stream or file must have one of them. Use off or none to mute the audio.",
            valueName: "LANG"
        )
    )
    var audio: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The languages or names of the subtitles in order of preference, comma-separated, such as en, Forced or en:Forced (a comma in a name is written %2C); the stream or file must have one of them. Use off or none for no subtitles (the default).",
            valueName: "LANG"
        )
    )
    var subtitles: String?

    @Option(name: .long, help: ArgumentHelp("The maximum bit rate of variants, such as 2M.", valueName: "N"))
    var maxBandwidth: String?

    @Option(name: .long, help: ArgumentHelp("The maximum height of variants in pixels.", valueName: "N"))
    var maxHeight: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The selector of variants: \(SelectorName.list).",
            valueName: "NAME"
        ),
        completion: .list(SelectorName.allCases.map(\.rawValue))
    )
    var selector = SelectorName.default.rawValue

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Edit the playlists, as in URLs of serve: bandwidth=900k...4M&duration=30 (see millstream edits); may be repeated.",
            valueName: "EDITS"
        )
    )
    var edit: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Write the access log, in the W3C Extended Log File Format.", valueName: "FILE")
    )
    var accessLog: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Write the error log, in the W3C Extended Log File Format.", valueName: "FILE")
    )
    var errorLog: String?

    @Option(name: .long, help: ArgumentHelp("Write the playback metrics as JSON.", valueName: "FILE|-"))
    var metrics: String?

    @Option(name: .long, help: ArgumentHelp("Write each event as a line of JSON.", valueName: "FILE|-"))
    var events: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The speed of playback: realtime, or max for as fast as data can be loaded and decoded.",
            valueName: "realtime|max"
        )
    )
    var speed = Speed.realtime

    @Flag(name: .long, help: "Hide progress.")
    var quiet = false

    @OptionGroup var reportFormat: ReportFormatFlags

    @OptionGroup var library: LibraryFlags

    @Flag(name: .long, help: "Load the entire stream from the network, including parts that are in the library.")
    var ignoreLibrary = false

    @OptionGroup(title: "DASH") var dash: DASHFlags

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    enum Mode: String, EnumerableFlag {
        case window, headless, noDecode

        static func help(for value: Mode) -> ArgumentHelp? {
            switch value {
            case .window: "Show video in a window; the default if there is a display."
            case .headless: "Decode without showing video; the default without a display."
            case .noDecode: "Load media and select variants without decoding."
            }
        }
    }

    enum Speed: String, ExpressibleByArgument, CaseIterable {
        case realtime, max
    }

    func validate() throws {
        guard (0.1...32).contains(rate.magnitude) else {
            throw ValidationError("--rate must be between 0.1 and 32, or between -32 and -0.1")
        }
        guard (0...100).contains(volume) else { throw ValidationError("--volume must be between 0 and 100 percent") }
        if fullScreen, effectiveMode != .window { throw ValidationError("--full-screen requires --window") }
        if keepOpen, loop || speed == .max {
            throw ValidationError("--keep-open cannot be combined with \(loop ? "--loop" : "--speed max")")
        }
        if rate < 0, until != nil || loop || keepOpen {
            throw ValidationError("--until, --loop and --keep-open cannot be combined with a negative --rate")
        }
        if source == "-", !edit.isEmpty { throw ValidationError("--edit cannot be applied to standard input") }
        let settings = try settings()
        let shots = try screenshots()
        if let end = settings.end, let late = shots.first(where: { $0.time > end }) {
            throw ValidationError("--screenshot \(late.time)=\(late.path) is after --until")
        }
        if let start = settings.start,
            let missed = shots.first(where: { rate > 0 ? $0.time < start : $0.time > start })
        {
            let side = rate > 0 ? "before" : "after"
            throw ValidationError("--screenshot \(missed.time)=\(missed.path) is \(side) --start")
        }
        _ = try EditParameters.edits(edit)
        if speed == .max, mode == .window { throw ValidationError("--speed max requires --headless or --no-decode") }
        if playsWithoutDecoding, !screenshot.isEmpty || checksums != nil || wave != nil {
            throw ValidationError("--screenshot, --checksums and --wave require --window or --headless")
        }
        if wave != nil, effectiveMode == .window { throw ValidationError("--wave requires --headless") }
        if wave != nil, isMuted { throw ValidationError("--wave cannot be combined with --muted or --audio none") }
    }

    mutating func run() async throws {
        // These files are written at the end, or after a while.
        for path in try screenshots().map(\.path) + [wave].compactMap(\.self) { try OutputFile.verifyFolder(of: path) }
        let files = try PlaybackFiles(accessLog: accessLog, errorLog: errorLog, metrics: metrics, events: events)
        let input =
            source == "-" ? try PlayedStandardInput(base: PlaylistSource(text: source, baseURL: baseURL).base) : nil
        defer { input?.remove() }
        try verifyNamesAsset()
        let source = input?.path ?? downloadedPackage ?? self.source
        let package = input == nil ? playedPackage(at: source) : nil
        let address = try input?.manifest?.address ?? PlaylistSource.address(source)
        let settings = try settings()
        let isLocal = package != nil || address.filePath != nil
        let display = PlaybackDisplay(isQuiet: quiet, isLocal: isLocal)
        let printsSummary = metrics != "-" && events != "-"
        let skipsWaiting = speed == .max
        if mode == nil, effectiveMode == .headless, speed == .realtime {
            display.showNotice("There is no display: playing without a window, as with --headless")
        }
        let stage = try await makeOutput(
            display,
            title: try title(of: package, at: address),
            effectiveMode == .window ? storedDescription(of: package, at: address) : StoredDescription()
        )
        let history = http.network.conditions == nil ? ThroughputFile.open() : nil
        defer { history.map(ThroughputFile.save) }
        do {
            let plan = EditPlan(try EditParameters.edits(edit))
            let (result, isInterrupted) = try await http.withLoading(
                source: source,
                base: origin(of: package) ?? baseURL,
                others: EditPlan(try EditParameters.edits(edit, locatesSources: false)).sources
            ) { loading in
                var (loading, address, settings) = (loading, address, settings)
                var translatesDASH = dash.translates
                if let manifest = input?.manifest { loading = manifest.overlaid(on: loading) }
                if let package {
                    let stored = PackageTransport(
                        package.library,
                        id: package.id,
                        origin: dash.bridging(loading).transport
                    )
                    loading = ResourceLoader(stored, policy: loading.policy)
                    address = stored.address
                } else if usesLibrary, input == nil, address.isHTTP,
                    let shared = sharedAsset(address, dash.bridging(loading).transport, display)
                {
                    loading = ResourceLoader(shared.transport, policy: loading.policy)
                    settings.storedVariants = shared.variants
                    // The transport of the asset has the translated presentation.
                    translatesDASH = false
                }
                if !plan.edits.isEmpty {
                    let edited = EditedTransport(
                        loading.transport,
                        policy: loading.policy,
                        translatesDASH: dash.translates
                    )
                    loading = ResourceLoader(edited, policy: loading.policy)
                    address = EditedTransport.address(of: address, plan)
                }
                return try await Interruption.finishing { [loading, address, settings, translatesDASH] in
                    try await PlaybackRun(
                        address: address,
                        loader: loading,
                        translatesDASH: translatesDASH,
                        settings: settings,
                        skipsWaiting: skipsWaiting,
                        files: files,
                        display: display,
                        output: stage,
                        throughputHistory: history
                    ).run()
                }
            }
            display.end()
            try await stage.finish()
            try files.close()
            if printsSummary {
                let summary = result.metrics.summary(skippedSegments: result.skippedSegments)
                try StandardOutput.write(reportFormat.isJSON ? "\(result.metrics.json)\n" : summary)
            }
            // The summary is the result, and the usual end of a live stream is an interruption.
            if isInterrupted { throw ExitCode(Failure.Status.interrupted.rawValue) }
            if let failure = result.failure { throw failure }
        } catch {
            display.end()
            // Preserve the output up to this point.
            try? await stage.finish()
            try? files.close()
            // Playback stores nothing, so the message of other commands about completed work does not apply.
            guard !(error is CancellationError) else { throw Failure(.interrupted, "interrupted", "interrupted") }
            throw input.map { Failure.namingStandardInput(error, storedAt: ResourceAddress(filePath: $0.path)) }
                ?? Failure.naming(error, self.source, at: address)
        }
    }

    private var playsWithoutDecoding: Bool { effectiveMode == .noDecode }

    private var effectiveMode: Mode {
        if let mode { return mode }
        #if Playback
        let environment = ProcessInfo.processInfo.environment
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
        #if os(macOS)
        return speed == .max ? .headless : .window
        #else
        return hasDisplay && speed == .realtime ? .window : .headless
        #endif
        #else
        return .noDecode
        #endif
    }

    private func makeOutput(
        _ display: PlaybackDisplay,
        title: String,
        _ stored: StoredDescription
    ) async throws -> any PlaybackOutput {
        let mode = effectiveMode
        #if Playback
        let keyboard = speed == .realtime && source != "-" ? TerminalKeyboard(display) : nil
        guard mode != .noDecode else { return UndecodedPlaybackOutput(keyboard: keyboard) }
        let end = rate > 0 ? try settings().end : nil
        let files = PlaybackMediaFiles(
            screenshots: try screenshots(),
            checksums: checksums,
            wave: wave,
            end: end,
            rate: rate
        )
        guard mode == .window else {
            return try DecodedPlaybackOutput(files, isMuted: isMuted, keyboard: keyboard)
        }
        return try await WindowPlaybackOutput(
            title: ("\(title)\(WindowPlaybackOutput.titleSuffix)" as TerminalText).description,
            stored,
            files,
            isFullScreen: fullScreen,
            keyboard: keyboard
        )
        #else
        guard mode != .noDecode else { return UndecodedPlaybackOutput() }
        throw Failure(.failed, "no-decoder", "this build cannot decode media; use --no-decode to run the engine only")
        #endif
    }

    private func screenshots() throws -> [(time: MediaTime, path: String)] {
        try screenshot.map { text in
            guard let separator = text.firstIndex(of: "="), text.index(after: separator) < text.endIndex else {
                throw ValidationError("--screenshot must be T=FILE.png")
            }
            let path = String(text[text.index(after: separator)...])
            let fileExtension = URL(fileURLWithPath: path).pathExtension
            guard fileExtension.lowercased() == "png" else {
                throw ValidationError("--screenshot writes PNG files, whose names end in .png: \(path)")
            }
            return (try time(String(text[..<separator]), "--screenshot"), path)
        }
    }

    private static var keys: String {
        #if Playback
        PlayerCommand.keyDescriptions.map { "  \($0.key): \($0.meaning)" }.joined(separator: "\n")
        #else
        "  (this program was built without windows)"
        #endif
    }

    private func settings() throws -> PlaybackSettings {
        var settings = PlaybackSettings()
        settings.rate = rate
        settings.isLoop = loop
        settings.staysOpen = keepOpen
        settings.isMuted = isMuted
        settings.volume = Double(volume) / 100
        settings.start = try start.map { try time($0, "--start") }
        settings.end = try until.map { try time($0, "--until") }
        settings.lastScreenshot = try screenshots().map(\.time).max()
        if let start = settings.start, let end = settings.end, end <= start {
            throw ValidationError("--until must be after --start")
        }
        if let maxBandwidth {
            guard let rate = BitRate(maxBandwidth) else {
                throw ValidationError("--max-bandwidth must be a bit rate, such as 2M")
            }
            settings.maximumBitRate = rate
        }
        if let maxHeight {
            guard (1...100_000).contains(maxHeight) else {
                throw ValidationError("--max-height must be between 1 and 100000 pixels")
            }
            settings.maximumHeight = maxHeight
        }
        guard let name = SelectorName(rawValue: selector) else {
            throw ValidationError("--selector must be one of \(SelectorName.list)")
        }
        settings.selector = name
        for (option, list) in [("--audio", audio), ("--subtitles", subtitles)] {
            guard let list, languages(list).isEmpty else { continue }
            throw ValidationError("\(option) must have at least one language or name, or be off or none")
        }
        // The languages of the configuration are preferences: a stream without them is played.
        settings.requiredLanguages = [audio == nil ? nil : .audio, subtitles == nil ? nil : .subtitles].compactMap(
            \.self
        )
        settings.audioLanguages = isOff(requestedAudio) ? [] : languages(requestedAudio)
        let requestedSubtitles = subtitles ?? Configuration.current?.text("subtitles")
        settings.subtitleLanguages = isOff(requestedSubtitles) ? nil : requestedSubtitles.map { languages($0) }
        return settings
    }

    private var requestedAudio: String? {
        if let audio { return audio }
        let preferred = Configuration.current?.text("audio")
        // A configuration without audio does not concern a file with audio that is requested.
        return wave != nil && isOff(preferred) ? nil : preferred
    }

    /// A Boolean value that indicates whether the audio is muted, by `--muted` or `--audio none`.
    private var isMuted: Bool { muted || isOff(requestedAudio) }

    /// Returns a Boolean value that indicates whether a list of languages is a word for no language.
    private func isOff(_ languages: String?) -> Bool { ["off", "none"].contains(languages?.lowercased()) }

    /// Returns the languages and names of a list, in which a comma within a name is percent-encoded.
    private func languages(_ text: String?) -> [String] {
        text?.split(separator: ",").map { PercentEncoding.decode(String($0)) ?? String($0) } ?? []
    }

    private func time(_ text: String, _ name: String) throws -> MediaTime {
        guard let time = ClockTime.parse(text) else {
            throw ValidationError("\(name) must be a time such as 12.5 or 01:02:03.5")
        }
        return time
    }
}
