import Adaptation
import ArgumentParser
import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamServer
import PlaybackReporting
import PlaylistEditing
import ReportFormat
import ResourceAddressing
import StreamingEngine

#if Playback
import MediaOutput
#endif

/// The command `millstream play`.
struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Play a stream or a file, and tell how it went.",
        discussion: """
            With --window, the default where there is a display, it is shown, and these keys are obeyed:

            \(keys)

            With --headless it is decoded and dropped, or written to files; with --no-decode the engine loads, chooses \
            variants and keeps time as a player does, and nothing is decoded.

            Example: millstream play https://example.com/multivariant.m3u8 --headless --conditions 3G --metrics -
            """
    )

    @Argument(help: "The address of a playlist or of a media file, a file, or the folder of a kept asset.")
    var source: String

    @Flag(help: "Where it is shown.")
    var mode: Mode?

    @Flag(name: .long, help: "Play without sound.")
    var muted = false

    @Option(
        name: .long,
        help: ArgumentHelp("Write the picture of a time; may be given more than once.", valueName: "T=FILE.png")
    )
    var screenshot: [String] = []

    @Option(name: .long, help: ArgumentHelp("Write a line with the checksum of each frame.", valueName: "FILE"))
    var checksums: String?

    @Option(name: .long, help: ArgumentHelp("Write the sound, with --headless.", valueName: "FILE.wav"))
    var wave: String?

    @Option(name: .long, help: ArgumentHelp("How fast, 0.1 to 32.", valueName: "R"))
    var rate = 1.0

    @Option(name: .long, help: ArgumentHelp("Where to begin.", valueName: "T"))
    var start: String?

    @Option(name: .long, help: ArgumentHelp("Where to stop.", valueName: "T"))
    var until: String?

    @Flag(name: .long, help: "Begin again at the end.")
    var loop = false

    @Option(
        name: .long,
        help: ArgumentHelp("Which sound is preferred, several languages with commas between.", valueName: "LANG")
    )
    var audio: String?

    @Option(name: .long, help: ArgumentHelp("Which subtitles are preferred.", valueName: "LANG"))
    var subtitles: String?

    @Option(name: .long, help: ArgumentHelp("Fetch no variant above this bit rate, such as 2M.", valueName: "N"))
    var maxBandwidth: String?

    @Option(name: .long, help: ArgumentHelp("Fetch no picture higher than so many pixels.", valueName: "N"))
    var maxHeight: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Who chooses variants: \(SelectorName.list).",
            valueName: "NAME"
        )
    )
    var selector = SelectorName.default.rawValue

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Play what edits make of it, as in addresses of millstream serve: bandwidth=900k...4M&duration=30.",
            valueName: "EDITS"
        )
    )
    var edit: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Write the access log, in the W3C Extended Log File Format.", valueName: "FILE")
    )
    var accessLog: String?

    @Option(name: .long, help: ArgumentHelp("Write the error log, in the same format.", valueName: "FILE"))
    var errorLog: String?

    @Option(name: .long, help: ArgumentHelp("Write the playback indicators as JSON.", valueName: "FILE|-"))
    var metrics: String?

    @Option(name: .long, help: ArgumentHelp("Write each event as a line of JSON.", valueName: "FILE|-"))
    var events: String?

    @Option(
        name: .long,
        help: ArgumentHelp("realtime, or max: as fast as the data comes.", valueName: "realtime|max")
    )
    var speed = Speed.realtime

    @Flag(name: .long, help: "Show no progress.")
    var quiet = false

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    enum Mode: String, EnumerableFlag {
        case window, headless, noDecode

        static func help(for value: Mode) -> ArgumentHelp? {
            switch value {
            case .window: "Show it in a window; the default where there is a display."
            case .headless: "Decode it and show nothing; the default elsewhere."
            case .noDecode: "Run the engine without decoding anything."
            }
        }
    }

    enum Speed: String, ExpressibleByArgument, CaseIterable {
        case realtime, max
    }

    func validate() throws {
        guard source != "-" else { throw ValidationError("to play, an address or a file is needed") }
        guard (0.1...32).contains(rate) else { throw ValidationError("--rate wants 0.1 to 32") }
        _ = try options()
        _ = try screenshots()
        _ = try edits()
        if speed == .max, mode == .window { throw ValidationError("--speed max wants --headless or --no-decode") }
        if playsWithoutDecoding, !screenshot.isEmpty || checksums != nil || wave != nil {
            throw ValidationError("--screenshot, --checksums and --wave want --window or --headless")
        }
        if wave != nil, effectiveMode == .window { throw ValidationError("--wave wants --headless") }
    }

    mutating func run() async throws {
        let files = try PlaybackFiles(accessLog: accessLog, errorLog: errorLog, metrics: metrics, events: events)
        let package = PackageTransport.package(at: URL(fileURLWithPath: source))
        let address = try PlaylistSource.address(source)
        let options = try options()
        let display = PlaybackDisplay(isQuiet: quiet)
        let printsSummary = metrics != "-" && events != "-"
        let (rate, loop, speed) = (rate, loop, speed)
        let stage = try await makeStage()
        do {
            let plan = EditPlan(try edits())
            let metrics = try await http.withLoading(
                source: source,
                base: origin(of: package),
                others: plan.sources
            ) { loading in
                var (loading, address) = (loading, address)
                if let package {
                    let stored = PackageTransport(package.library, id: package.id, origin: loading.transport)
                    loading = ResourceLoading(stored, policy: loading.policy)
                    address = stored.address
                }
                if !plan.edits.isEmpty {
                    let edited = EditedTransport(loading.transport, policy: loading.policy)
                    loading = ResourceLoading(edited, policy: loading.policy)
                    address = EditedTransport.address(of: address, plan)
                }
                return try await Interruption.cancelling { [loading, address] in
                    try await PlaybackRun(
                        address: address,
                        loading: loading,
                        options: options,
                        rate: rate,
                        isLoop: loop,
                        isUnpaced: speed == .max,
                        files: files,
                        display: display,
                        stage: stage
                    ).run()
                }
            }
            display.end()
            try await stage.finish()
            try files.close()
            if printsSummary { try StandardOutput.write(metrics.summary) }
        } catch {
            display.end()
            // Preserve the output up to this point.
            try? await stage.finish()
            try? files.close()
            throw error
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

    private func makeStage() async throws -> any PlaybackStage {
        let mode = effectiveMode
        guard mode != .noDecode else { return UndecodedStage() }
        #if Playback
        let files = DecodedStage.Files(screenshots: try screenshots(), checksums: checksums, wave: wave)
        guard mode == .window else { return try DecodedStage(files, isMuted: muted) }
        let name = PlaylistSource.name(source).split(separator: "/").suffix(2).joined(separator: "/")
        return try await WindowStage(title: ("\(name) - Millstream" as TerminalText).description, files, isMuted: muted)
        #else
        throw Failure(.failed, "no-decoder", "this program was built without decoding; --no-decode runs the engine")
        #endif
    }

    private func screenshots() throws -> [(time: MediaTime, path: String)] {
        try screenshot.map { text in
            guard let border = text.firstIndex(of: "="), text.index(after: border) < text.endIndex else {
                throw ValidationError("--screenshot wants T=FILE.png")
            }
            return (try time(String(text[..<border]), "--screenshot"), String(text[text.index(after: border)...]))
        }
    }

    private static var keys: String {
        #if Playback
        PlayerCommand.keys.map { "  \($0.key): \($0.meaning)" }.joined(separator: "\n")
        #else
        "  (this program was built without windows)"
        #endif
    }

    /// Returns the address of the origin of a downloaded package, from which missing resources can be loaded.
    private func origin(of package: (library: AssetLibrary, id: String)?) throws -> String? {
        try package.map { try $0.library.asset($0.id).source.text }
    }

    private func edits() throws -> [PlaylistEdit] {
        try edit.flatMap { $0.split(separator: "&") }.map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(String(parts[0])), PlaylistEdit.names.contains(name),
                let value = PercentEncoding.decode(parts.count > 1 ? String(parts[1]) : "")
            else {
                let known = PlaylistEdit.names.sorted().joined(separator: ", ")
                throw ValidationError("--edit knows no \(parts[0]); there are \(known)")
            }
            do {
                return try Self.locating(PlaylistEdit(name: name, value: value))
            } catch let error as PlaylistEditError {
                throw ValidationError("--edit: \(error)")
            }
        }
    }

    /// Resolves the source of an inserted playlist relative to the working directory.
    private static func locating(_ edit: PlaylistEdit) throws -> PlaylistEdit {
        guard let source = edit.source, GapPlaylist.playlist(at: source) == nil else { return edit }
        let address = try PlaylistSource.address(source).text
        return switch edit {
        case .append: .append(address)
        case .prepend: .prepend(address)
        case .insert(_, let time): .insert(address, at: time)
        default: edit
        }
    }

    private func options() throws -> StreamingOptions {
        var options = StreamingOptions()
        options.startTime = try start.map { try time($0, "--start") }
        options.forwardPlaybackEndTime = try until.map { try time($0, "--until") }
        if let begin = options.startTime, let end = options.forwardPlaybackEndTime, end <= begin {
            throw ValidationError("--until wants a time behind --start")
        }
        if let maxBandwidth {
            guard let rate = BitRate(maxBandwidth) else { throw ValidationError("--max-bandwidth wants a bit rate") }
            options.preferredPeakBitRate = rate
        }
        if let maxHeight {
            guard (1...100_000).contains(maxHeight) else {
                throw ValidationError("--max-height wants a number of pixels")
            }
            // Only the height is limited.
            options.preferredMaximumResolution = Resolution(width: 1_000_000, height: maxHeight)
        }
        guard let name = SelectorName(rawValue: selector) else {
            throw ValidationError("--selector knows \(SelectorName.list)")
        }
        options.selector = name
        options.selectionRules.audioLanguages = languages(audio)
        options.selectionRules.subtitleLanguages = languages(subtitles)
        options.selectionRules.areLanguagesAskedFor = true
        options.sound.isMuted = muted
        if subtitles != nil { options.selectionRules.subtitleMode = .always }
        return options
    }

    private func languages(_ text: String?) -> [String] { text?.split(separator: ",").map(String.init) ?? [] }

    private func time(_ text: String, _ name: String) throws -> MediaTime {
        guard let time = ClockTime.parse(text) else {
            throw ValidationError("\(name) wants a time such as 12.5 or 01:02:03.5")
        }
        return time
    }
}
