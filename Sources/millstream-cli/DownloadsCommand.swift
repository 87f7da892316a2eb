import ArgumentParser
import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamServer
import ReportFormat
import ResourceAddressing

/// The command `millstream downloads`.
struct DownloadsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "downloads",
        abstract: "List, pause, resume and cancel downloads.",
        discussion: """
            A download that was interrupted, paused or that failed stays in the library until it is complete or canceled. \
            A download is named by its own identifier or by that of its asset.

            Example: millstream downloads list
            """,
        subcommands: [ListCommand.self, PauseCommand.self, ResumeCommand.self, CancelCommand.self],
        defaultSubcommand: ListCommand.self
    )

    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the downloads that are not complete.",
            discussion: "Example: millstream downloads list --json"
        )

        @OptionGroup var downloads: DownloadsFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        private var json: Bool { reportFormat.isJSON }

        func run() async throws {
            let tasks =
                try downloads.library.openForReading().map { try downloads.unfinishedTasks(in: $0) } ?? []
            if json {
                try StandardOutput.writeLine(ReportValue.array(tasks.map { Self.report($1, of: $0) }))
                return
            }
            guard !tasks.isEmpty else {
                StandardError.write("there are no unfinished downloads; start one with: millstream download URL\n")
                return
            }
            let rows = tasks.map { session, task in
                [
                    task.id, Self.state(task, of: session), Self.loaded(task),
                    // What was received of unfinished files is on the disk too.
                    "\((try? session.library.summary(task.assetID).diskBytes) ?? task.progress.bytes)",
                    session.identifier, task.title,
                ]
            }
            let table = TerminalTable(
                header: ["ID", "state", "loaded", "size", "session", "title"],
                rows: rows,
                omitsEmptyColumns: true
            )
            try StandardOutput.writeLine(table.text)
            for (session, task) in tasks {
                guard let error = task.error else { continue }
                StandardError.write("\(task.id): \(Failure.namingFiles(in: error.message))\n")
                if let hint = Self.hint(for: error, of: task, in: session) { StandardError.write("hint: \(hint)\n") }
            }
        }

        /// Returns advice for a download that the policy of a server has refused; `nil` for other errors.
        static func hint(
            for error: DownloadError,
            of task: DownloadTask,
            in session: DownloadSession
        ) -> String? {
            guard session.identifier == DownloadSession.serverIdentifier,
                error.detail == TransportError.Code.addressRefused.rawValue,
                task.address.authority?.contains("@") != true
            else { return nil }
            // The refused address can be that of a media playlist or a segment on another host.
            let named = error.message.matches(of: /https?:\/\/[^\s,;]+/).last.map { String($0.output) }
            return SourcePolicy.hint(forRefused: named.map { ResourceAddress($0) } ?? task.address)
        }

        /// Returns the share that is loaded; for a recording without a duration, what is recorded.
        private static func loaded(_ task: DownloadTask) -> String {
            if let recording = task.configuration.recording, recording.duration == nil {
                return QuantityText.clock(task.progress.loadedTimeRanges.totalDuration)
            }
            let percent = "\(Int(saturating: task.progress.percentOfBytes)) %"
            guard let selection = task.progress.selection else { return percent }
            return "\(percent), selection \(selection.index +| 1) of \(selection.count)"
        }

        /// Returns the state for people: a task that no process manages is interrupted, but one that was handed to
        /// millstream serve waits for it, or for its turn.
        private static func state(_ task: DownloadTask, of session: DownloadSession) -> String {
            let state = ListedDownload.State(
                task.state,
                session: session.identifier,
                isAttended: task.isAttended
            ) { task.isWriting }
            return state.rawValue
        }

        private static func report(_ task: DownloadTask, of session: DownloadSession) -> ReportValue {
            let head = ReportValue.fields([
                "id": .string(task.id),
                "asset": .string(task.assetID),
                "session": .string(session.identifier),
                "state": .string(state(task, of: session)),
                "title": .string(task.title),
                "source": .string(task.address.withoutUserInformation.text),
                "priority": .integer(Int64(task.priority)),
                "details": task.details.isEmpty ? nil : .string(task.details),
                "error": task.error.map { error in
                    .fields([
                        "code": .string(error.detail), "message": .string(Failure.namingFiles(in: error.message)),
                        "hint": Self.hint(for: error, of: task, in: session).map { .string($0) },
                    ])
                },
            ])
            guard case .object(let fields) = head else { return head }
            return .object(fields + task.progress.fields)
        }
    }

    struct PauseCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause",
            abstract: "Pause downloads, including those of other processes.",
            discussion: """
                A failed download is not changed: it keeps its state and its error.

                Example: millstream downloads pause abc123
                """
        )

        @Argument(help: "The identifiers of downloads or assets (default: all downloads).") var ids: [String] = []
        @OptionGroup var downloads: DownloadsFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        func run() async throws {
            try downloads.perform("paused", on: ids, reportFormat, refusal: Self.refusal) { $0.suspend() }
        }

        /// Returns the failure for a download that has failed, and therefore cannot be paused; `nil` for any other one.
        private static func refusal(_ task: DownloadTask) -> Failure? {
            guard task.state == .failed else { return nil }
            return Failure(
                .failed,
                "not-running",
                "the download \(task.id) cannot be paused, because it has failed",
                hint:
                    "millstream downloads list prints its error; continue it with: millstream downloads resume \(task.id)"
            )
        }
    }

    struct CancelCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel",
            abstract: "Cancel downloads. Stored files remain until the asset is deleted.",
            discussion: "Example: millstream downloads cancel abc123"
        )

        @Argument(help: "The identifiers of downloads or assets (default: all downloads of --session).")
        var ids: [String] = []
        @OptionGroup var downloads: DownloadsFlags
        @OptionGroup var reportFormat: ReportFormatFlags

        func validate() throws {
            guard !ids.isEmpty || downloads.session != nil else {
                throw ValidationError("name the downloads to cancel, or their session with --session")
            }
        }

        func run() async throws {
            try downloads.perform("canceled", on: ids, reportFormat, refusal: { _ in nil }) { $0.cancel() }
        }
    }

    struct ResumeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Continue downloads where they stopped.",
            discussion: """
                If another process, such as millstream serve, manages a download, that process continues it. This \
                command continues all other downloads, one after the other. Each has its own options, unless the \
                command line replaces them. With --queue, millstream serve continues these downloads. Ctrl-C ends a \
                recording, as for millstream record. With --json, a line of JSON is printed for each event.

                Example: millstream downloads resume abc123
                """
        )

        @Argument(help: "The identifiers of downloads or assets (default: all downloads).") var ids: [String] = []
        @OptionGroup var downloads: DownloadsFlags
        @OptionGroup var reportFormat: ReportFormatFlags
        @Flag(name: .long, help: "Hide progress.") var quiet = false
        @Flag(
            name: .long,
            help: """
                Hand the downloads to millstream serve, which has its own HTTP and DASH options, instead of running \
                them.
                """
        )
        var queue = false
        @OptionGroup(title: "Limits, instead of those of the download")
        var limits: DownloadLimitFlags<StoredDownloadLimits>
        @OptionGroup(title: "DASH") var dash: DASHFlags
        @OptionGroup(title: "HTTP") var http: HTTPFlags

        private var json: Bool { reportFormat.isJSON }

        func validate() throws {
            guard !queue || !http.isUsed && dash.translates else {
                throw ValidationError(
                    "--queue cannot be combined with options for HTTP or DASH: millstream serve has its own"
                )
            }
        }

        mutating func run() async throws {
            let tasks = try downloads.tasks(ids)
            guard !queue else { return try await enqueue(tasks) }
            var failures = Failures()
            for (position, (session, task)) in tasks.enumerated() {
                guard !task.isAttended else {
                    try await failures.collect { try await resumeInItsProcess(task, of: session) }
                    continue
                }
                let printer = DownloadPrinter(task.configuration, printsJSON: json, isQuiet: quiet)
                try await failures.collect {
                    do {
                        let result = try await resume(task, of: session, printer)
                        if let asset = result.asset { try printer.showResult(asset, in: session.library) }
                        // The interruption of a recording ends the command, but it is no error of the recording.
                        guard result.isInterrupted, position < tasks.count - 1 else { return }
                    } catch {
                        let isKept = (try? session.library.asset(task.assetID)) != nil
                        let source = task.address.filePath ?? task.address.description
                        let error = Failure.naming(
                            printer.explaining(error, isKept: isKept),
                            source,
                            at: task.address
                        )
                        printer.showFailure(error, of: task.assetID)
                        // Of several downloads, the one that an error belongs to is named.
                        if tasks.count > 1 { StandardError.write("\(task.id): not completed\n") }
                        throw error
                    }
                    throw CancellationError()
                }
            }
            try failures.finish()
        }

        /// Asks the process that manages a download to continue it.
        ///
        /// - Throws: ``Failure`` if the download has failed there at once.
        private func resumeInItsProcess(_ task: DownloadTask, of session: DownloadSession) async throws {
            if limits.isUsed {
                StandardError.write("note: \(task.id) keeps its limits, because another process runs it\n")
            }
            guard let error = try await task.resumeInItsProcess(in: session) else {
                if !quiet, !json { StandardError.write("\(task.id): resumed by the process that runs it\n") }
                return
            }
            let refusal = task.failureInItsProcess(error, "the download has failed again", in: session)
            let printer = DownloadPrinter(task.configuration, printsJSON: json, isQuiet: quiet)
            printer.showFailure(refusal, of: task.assetID)
            throw refusal
        }

        /// Hands downloads to millstream serve, apart from those that another process manages.
        private func enqueue(_ tasks: [(session: DownloadSession, task: DownloadTask)]) async throws {
            let identifiers = [DownloadSession.serverIdentifier]
            guard let library = tasks.first?.session.library,
                let server = try DownloadSession.allForListing(in: library, identifiers: identifiers).first
            else { return }
            for (_, listed) in tasks where !listed.isAttended {
                guard let file = listed.configuration.fileSource(besides: listed.address) else { continue }
                throw ValidationError("--queue cannot hand over a download of a file: \(file.filePath ?? file.text)")
            }
            var failures = Failures()
            var queued: [DownloadTask] = []
            var refusals: [String: Failure] = [:]
            var interruption: (any Error)?
            do {
                for (session, listed) in tasks {
                    try await failures.collect {
                        guard let task = try await handOver(listed, to: server) else {
                            return try await resumeInItsProcess(listed, of: session)
                        }
                        queued.append(task)
                        if json {
                            try StandardOutput.writeLine(.fields(["event": .string("queued"), "id": .string(task.id)]))
                        }
                    }
                }
                refusals = try await DownloadTask.refusals(of: queued, in: server)
            } catch {
                interruption = error
            }
            // Downloads that are handed over are reported also after an interruption.
            for task in queued {
                if let refusal = refusals[task.id] {
                    let printer = DownloadPrinter(task.configuration, printsJSON: json, isQuiet: quiet)
                    printer.showFailure(refusal, of: task.assetID)
                    try failures.add(refusal)
                } else if !json, !quiet {
                    let verb: TerminalText = task.configuration.recording == nil ? "downloaded" : "recorded"
                    StandardError.write(
                        "\(task.id): queued; it is \(verb) while millstream serve runs with this library\n"
                    )
                }
            }
            if let interruption { throw interruption }
            try failures.finish()
        }

        /// Hands a download to millstream serve.
        ///
        /// - Returns: The task of the server; `nil` if another process manages the download.
        private func handOver(_ listed: DownloadTask, to server: DownloadSession) async throws -> DownloadTask? {
            try server.takeOverDownloads(of: listed.assetID, id: listed.id, includingFiles: false)
            let found = server.tasks.first { $0.id == listed.id }
            if let found, limits.isUsed {
                try await server.change(found, to: limits.applied(to: found.configuration))
            }
            return found.flatMap { server.handOver($0) ? $0 : nil }
        }

        /// Continues a download, or a recording, which Ctrl-C ends.
        ///
        /// - Returns: The stored asset, or `nil` if the download has ended in the meantime; and a Boolean value that
        ///   indicates whether a recording was interrupted.
        private func resume(
            _ listed: DownloadTask,
            of session: DownloadSession,
            _ printer: DownloadPrinter
        ) async throws -> (asset: StoredAsset?, isInterrupted: Bool) {
            let (id, identifier, library) = (listed.id, session.identifier, session.library)
            let (dash, limits, isRecording) = (dash, limits, listed.configuration.recording != nil)
            let others = listed.configuration.editedSources
            let evictions = library.observeEvictions { printer.showEviction($0) }
            defer { withExtendedLifetime(evictions) {} }
            return try await http.withLoading(source: listed.address.text, others: others) { loading in
                let session = try DownloadSession.forCommand(
                    identifier,
                    library,
                    loader: dash.bridging(loading),
                    appliesStoragePolicy: true
                )
                @Sendable func task() async throws -> DownloadTask? {
                    let task = session.tasks.first { $0.id == id }
                    if let task, limits.isUsed {
                        try await session.change(task, to: limits.applied(to: task.configuration))
                    }
                    return task
                }
                guard !isRecording else {
                    let (asset, isInterrupted) = try await Interruption.finishing { () async throws -> StoredAsset? in
                        guard let task = try await task() else { return nil }
                        return try await printer.record(task, in: session, isNew: false)
                    }
                    return (asset, isInterrupted)
                }
                let asset = try await Interruption.cancelling {
                    try await session.stoppingWhenCanceled { () async throws -> StoredAsset? in
                        guard let task = try await task() else { return nil }
                        return try await printer.run(task, in: session)
                    }
                }
                return (asset, false)
            }
        }
    }
}

/// The options that select downloads.
struct DownloadsFlags: ParsableArguments {
    @Option(name: .long, help: "Select the downloads of this session.")
    var session: String?

    @OptionGroup var library: LibraryFlags

    /// Returns the sessions with unfinished downloads.
    func sessions(in library: AssetLibrary) throws -> [DownloadSession] {
        try DownloadSession.allForListing(in: library, identifiers: session.map { [$0] })
    }

    /// Returns the downloads that have not ended, each once.
    ///
    /// A download that was canceled is in the catalog until the process that runs it has stopped it.
    func unfinishedTasks(in library: AssetLibrary) throws -> [(session: DownloadSession, task: DownloadTask)] {
        var found: [(session: DownloadSession, task: DownloadTask)] = []
        var positions: [String: Int] = [:]
        for session in try sessions(in: library) {
            for task in session.tasks where task.state != .canceled && task.state != .completed {
                if let position = positions[task.id] {
                    // The session has taken the download over since those of the other one were read.
                    found[position] = (session, task)
                } else {
                    positions[task.id] = found.count
                    found.append((session, task))
                }
            }
        }
        return found
    }

    /// Changes downloads, and says which ones.
    ///
    /// - Parameters:
    ///   - participle: The change, such as “paused”.
    ///   - ids: The identifiers of downloads or assets; all downloads if there are none.
    ///   - format: The form in which the changed downloads are printed.
    ///   - refusal: A closure that returns the failure for a download that cannot be changed, or `nil`. It is a failure of the
    ///     command only if the download is named.
    ///   - change: A closure that changes a download.
    /// - Throws: ``Failure`` if one of the identifiers names no download, or one that cannot be changed.
    func perform(
        _ participle: StaticString,
        on ids: [String],
        _ format: ReportFormatFlags,
        refusal: (DownloadTask) -> Failure?,
        _ change: (DownloadTask) -> Void
    ) throws {
        var failures = Failures()
        var reports: [ReportValue] = []
        for task in try tasks(ids).map(\.task) {
            if let failure = refusal(task) {
                if ids.isEmpty {
                    StandardError.write("note: \(failure.message)\n")
                } else {
                    try failures.add(failure)
                }
                continue
            }
            change(task)
            if !format.isJSON { StandardError.write("\(task.id): \(participle.description)  \(task.title)\n") }
            reports.append(
                .fields([
                    "id": .string(task.id), "asset": .string(task.assetID), "state": .string(participle.description),
                    "title": .string(task.title),
                ])
            )
        }
        if format.isJSON { try StandardOutput.writeLine(ReportValue.array(reports)) }
        try failures.finish()
    }

    /// Returns the downloads with the given identifiers, or all downloads.
    ///
    /// - Throws: ``Failure`` if one of the identifiers names no download.
    func tasks(_ ids: [String]) throws -> [(session: DownloadSession, task: DownloadTask)] {
        let all = try unfinishedTasks(in: library.openForWriting())
        guard !ids.isEmpty else {
            if all.isEmpty { StandardError.write("there are no unfinished downloads\n") }
            return all
        }
        return try ids.flatMap { id in
            let named = all.filter { $1.id == id || $1.assetID == id }
            guard !named.isEmpty else {
                throw Failure(
                    .failed,
                    "not-found",
                    "there is no unfinished download \(id)",
                    hint: "list the downloads with: millstream downloads list"
                )
            }
            return named
        }
    }
}

extension DownloadSession {
    /// Returns the sessions with unfinished downloads in a library, which run no tasks themselves.
    ///
    /// - Parameters:
    ///   - library: The library.
    ///   - identifiers: The identifiers of the sessions; `nil` for all.
    /// - Returns: The sessions.
    /// - Throws: `StorageError` if the catalog cannot be read.
    static func allForListing(in library: AssetLibrary, identifiers: [String]? = nil) throws -> [DownloadSession] {
        try (identifiers ?? library.downloadSessionIdentifiers).map { identifier in
            try forCommand(identifier, library, loader: ResourceLoader(UnavailableTransport()))
        }
    }
}

/// The transport of sessions that run no tasks.
private struct UnavailableTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        throw TransportError(.addressRefused, "this session loads nothing", address: request.address)
    }
}
