import DASHManifest
package import DASHTranslation
import HLSPlaylist
import MediaTiming
package import MediaTransport
package import ResourceAddressing
import Synchronization

/// A DASH presentation that is loaded, translated and kept up to date.
///
/// Requests wait for each other, so that a manifest is loaded once for all requests that need it at the same time. Each
/// load uses the loader of the request that causes it, so that it is subject to the guards and the budget of the request.
package final class PresentationSession: Sendable {
    /// The translation of a presentation at a point in time.
    package struct Result: Sendable {
        /// The playlists.
        package let translation: TranslatedPresentation
        /// The URL of the manifest after all redirects, which is the base of its relative references.
        package let baseAddress: ResourceAddress?
        /// The measurement of the manifest, if it was loaded for this result.
        package let record: TransferRecord?
        /// A Boolean value that indicates whether the presentation can change.
        package let isDynamic: Bool
    }

    /// A manifest that was loaded.
    package struct LoadedManifest: Sendable {
        let bytes: [UInt8]
        let address: ResourceAddress?
        let record: TransferRecord?

        /// Creates a manifest from its bytes.
        ///
        /// - Parameters:
        ///   - bytes: The bytes.
        ///   - address: The URL after all redirects, the base of relative references; `nil` if it is not known.
        ///   - record: The measurement of the transfer.
        package init(_ bytes: [UInt8], address: ResourceAddress?, record: TransferRecord? = nil) {
            self.bytes = bytes
            self.address = address
            self.record = record
        }
    }

    /// The time for which a translation of a dynamic manifest answers requests: half a second.
    ///
    /// The playlists of a presentation are reloaded at about the same time, and one translation is enough for all.
    private static let translationLifetime = Duration.milliseconds(500)

    /// The URL from which the manifest is loaded first, without a fragment.
    package let address: ResourceAddress
    private let baseAddress: ResourceAddress?
    private let options: PresentationOptions
    private let state: Mutex<PresentationState>
    private let lock = AsyncLock()

    /// Creates a session, which loads nothing before it is used.
    ///
    /// - Parameters:
    ///   - address: The URL of the manifest.
    ///   - baseAddress: The base of relative references; `nil` for the URL of the manifest after all redirects.
    ///   - options: The clocks and limits.
    ///   - translationState: The state of a previous session of the presentation, whose sequence numbers continue.
    package init(
        _ address: ResourceAddress,
        baseAddress: ResourceAddress? = nil,
        options: PresentationOptions = PresentationOptions(),
        translationState: TranslationState = TranslationState()
    ) {
        self.address = address.withoutFragment
        self.baseAddress = baseAddress
        self.options = options
        let translator = PresentationTranslator(state: translationState, limits: options.translation)
        state = Mutex(PresentationState(translator: translator))
    }

    /// The state of the translation, with which another session of the presentation can continue.
    package var translationState: TranslationState { state.withLock { $0.translator.state } }

    /// Returns the name under which a state file stores the numbers of a presentation.
    package static func stateKey(of address: ResourceAddress) -> String {
        address.withoutFragment.withoutUserInformation.text
    }

    /// The memory that the manifest, its resources and its playlists take, in bytes; estimated.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// The time after which a new version of the playlists is due, from 1 to 60 seconds; `nil` once they are complete.
    package var updateInterval: Duration? { state.withLock { $0.updateInterval } }

    // MARK: Translations

    /// Translates a manifest that was loaded.
    ///
    /// - Throws: `TransportError`, `CancellationError`.
    package func adopt(_ manifest: LoadedManifest, using loader: ResourceLoader) async throws -> Result {
        try await lock.withLock {
            try await adoptLocked(manifest, began: options.time.now, loader)
            return try await translate(loader, record: manifest.record)
        }
    }

    /// Returns the translation as of now, unless the complete manifest must be loaded for it.
    ///
    /// - Parameter loader: The loader of patches and segment indexes.
    /// - Returns: The translation of a dynamic presentation; `nil` if its manifest may be loaded, and for static ones.
    /// - Throws: `TransportError`, `CancellationError`.
    func currentDynamicResult(using loader: ResourceLoader) async throws -> Result? {
        try await lock.withLock {
            let state = state.withLock { $0 }
            guard let presentation = state.presentation, presentation.kind == .dynamic else { return nil }
            guard isReloadDue(state) else { return try await refresh(loader) }
            guard let record = try await patchLocked(state, loader) else { return nil }
            return try await translate(loader, record: record)
        }
    }

    /// Returns the translation as of now, and loads the manifest first if that is due.
    ///
    /// - Parameter loader: The loader of the manifest and of segment indexes.
    /// - Returns: The playlists.
    /// - Throws: `TransportError`, `CancellationError`.
    package func result(using loader: ResourceLoader) async throws -> Result {
        try await lock.withLock {
            let current = state.withLock { $0 }
            guard isReloadDue(current) else { return try await refresh(loader) }
            if let record = try await patchLocked(current, loader) {
                return try await translate(loader, record: record)
            }
            let request = TransportRequest(current.nextAddress(of: address), kind: .playlist)
            let began = options.time.now
            let limit = ByteCount(Int64(clamping: options.manifest.byteCount))
            let manifest = try await loader.send(request) { response in
                LoadedManifest(
                    try await ManifestBody.bytes(of: response, limit: limit),
                    address: response.address,
                    record: response.record
                )
            }
            try await adoptLocked(manifest, began: began, loader)
            return try await translate(loader, record: manifest.record)
        }
    }

    /// Translates the manifest as of now, and loads its remote elements first if one of them is needed now.
    private func refresh(_ loader: ResourceLoader) async throws -> Result {
        let current = state.withLock { $0 }
        if let linked = current.linked, date(current) >= linked.date {
            try await adoptLocked(linked.manifest, began: current.loadTime, loader)
        }
        return try await translate(loader, record: nil)
    }

    /// Returns a Boolean value that indicates whether the manifest must be loaded before a playlist is answered.
    private func isReloadDue(_ state: PresentationState) -> Bool {
        state.isReloadDue(at: options.time.now, staticLifetime: options.staticLifetime)
    }

    /// Returns the time of day by the clock of the server.
    private func date(_ state: PresentationState) -> MediaTime { options.now + state.clock.difference }

    /// Loads the patch to the next version of the manifest, applies it, and stores the result.
    ///
    /// - Returns: The measurement of the patch; `nil` if the complete manifest has to be loaded.
    /// - Throws: `CancellationError`.
    private func patchLocked(_ state: PresentationState, _ loader: ResourceLoader) async throws -> TransferRecord? {
        guard let manifest = state.patchable, let presentation = state.presentation,
            let patch = state.nextPatch(at: date(state))
        else { return nil }
        let began = options.time.now
        do {
            let next = try await PresentationSource(loader: loader, options: options)
                .manifest(manifest, patchedFrom: patch)
            try await adoptLocked(next, began: began, replacing: presentation, loader)
            return next.record
        } catch let error as ManifestPatchError {
            // If parsing was canceled, the patch itself is not invalid.
            try Task.checkCancellation()
            options.reportProblem("the patch \(patch) cannot be applied: \(error.message)")
        } catch let error as TransportError {
            options.reportProblem("the patch \(patch) cannot be used: \(error.message)")
        }
        return nil
    }

    /// Parses a manifest with its remote elements, and stores it with the clock of its server.
    ///
    /// - Parameters:
    ///   - manifest: The manifest, before remote elements are inserted.
    ///   - began: The time at which its load began.
    ///   - previous: The version that a patch changed, if a patch was applied; the next one has another publish time.
    ///   - loader: The loader of remote elements and clocks.
    /// - Throws: `TransportError` if the manifest cannot be read or is too large, `CancellationError`.
    private func adoptLocked(
        _ manifest: LoadedManifest,
        began: Duration,
        replacing previous: MediaPresentation? = nil,
        _ loader: ResourceLoader
    ) async throws {
        let base = baseAddress ?? manifest.address?.withoutFragment
        let limits = options.manifest
        let date = date(state.withLock { $0 })
        let presentation: MediaPresentation
        let nextDate: MediaTime?
        do {
            let inserted = try await PresentationSource(loader: loader, options: options)
                .insertingRemoteElements(in: manifest.bytes, address: base, at: date)
            let bytes = inserted.bytes
            nextDate = inserted.nextDate
            presentation = try await perform { check in
                try check()
                return try MediaPresentation(parsing: bytes.span, address: base, limits: limits)
            }
        } catch let error as ManifestParsingError {
            if error == .canceled { throw CancellationError() }
            let code: TransportError.Code = if case .tooLarge = error { .tooLarge } else { .unreadableManifest }
            throw TransportError(code, "\(error)", address: manifest.address ?? address, cause: error)
        }
        // The same patch would be applied again and again.
        if let previous, presentation.publishTime?.sinceEpoch == previous.publishTime?.sinceEpoch {
            throw TransportError(.unreadableManifest, "the patch does not change the publish time", address: address)
        }
        var next = state.withLock { $0 }
        // Only the versions of a dynamic presentation continue each other; a static one is translated from its beginning.
        if presentation.kind == .static, next.presentation?.kind != .dynamic {
            next.translator = PresentationTranslator(limits: options.translation)
            next.indexes = PresentationSource.Indexes()
        }
        // A clock in the manifest contains the time at which the manifest was written.
        let hasDirectClock =
            presentation.clockSynchronizations.first?.scheme.hasPrefix("urn:mpeg:dash:utc:direct:") ?? false
        if presentation.kind == .dynamic, hasDirectClock || next.clock.isUpdateDue(at: began) {
            next.clock.difference = try await PresentationSource(loader: loader, options: options)
                .clockDifference(of: presentation)
            next.clock.updateTime = began
        }
        // A patch that is not available now will not become available.
        let isPatchable = presentation.patchAddress(at: self.date(next)) != nil
        next.patchable = isPatchable ? manifest : nil
        next.linked = nextDate.map { (manifest, $0) }
        next.presentation = presentation
        next.outcome = .pending
        next.loadTime = began
        state.withLock { $0 = next }
    }

    /// Translates the manifest as of now, unless its last translation is recent enough.
    private func translate(_ loader: ResourceLoader, record: TransferRecord?) async throws -> Result {
        var next = state.withLock { $0 }
        guard let presentation = next.presentation else {
            throw TransportError(.unreadableManifest, "the manifest was not loaded", address: address)
        }
        let isDynamic = presentation.kind == .dynamic
        let now = options.time.now
        switch next.outcome {
        case .failed(let failure): throw failure
        case .translated(let known, let time):
            guard isDynamic, now - time >= Self.translationLifetime else {
                return Result(
                    translation: known,
                    baseAddress: presentation.address,
                    record: record,
                    isDynamic: isDynamic
                )
            }
        case .pending: break
        }
        let date = date(next)
        do {
            let translator = next.translator
            let resources = try await perform { check in
                try translator.requiredIndexes(of: presentation, at: date, checkCancellation: check)
            }
            try await loadIndexes(Self.permitted(resources, in: presentation), &next.indexes, loader)
            let indexes = next.indexes.segments
            if options.readsSegmentEvents {
                let segments = try await perform { check in
                    try translator.segmentsWithEvents(
                        of: presentation,
                        indexes: indexes,
                        at: date,
                        checkCancellation: check
                    )
                }
                try await next.events.load(Self.permitted(segments, in: presentation), using: loader, options)
            }
            let events = options.readsSegmentEvents ? next.events.messages : nil
            let (advanced, translation) = try await perform { check in
                var translator = translator
                let translation = try translator.translate(
                    presentation,
                    indexes: indexes,
                    events: events,
                    at: date,
                    checkCancellation: check
                )
                return (translator, translation)
            }
            next.translator = advanced
            next.outcome = .translated(translation, at: now)
            // The playlists of a static presentation stay as they are.
            if !isDynamic {
                next.presentation = presentation.withoutContents
                next.indexes = PresentationSource.Indexes()
            }
            state.withLock { $0 = next }
            if isDynamic, advanced.state != translator.state { try await store(advanced.state) }
            return Result(
                translation: translation,
                baseAddress: presentation.address,
                record: record,
                isDynamic: isDynamic
            )
        } catch let error as TranslationError {
            let failure = failure(error, next.indexes, presentation)
            discardManifest(because: error, failure)
            throw failure
        }
    }

    /// Removes a manifest that cannot be translated from memory, unless the time of day is the reason.
    private func discardManifest(because error: TranslationError, _ failure: TransportError) {
        switch error {
        case .notAvailableYet: return
        case .nothingToPlay, .tooLarge: break
        }
        state.withLock { $0.fail(failure) }
    }

    /// Stores the numbers for the next run of the program, if there is a file for them.
    private func store(_ state: TranslationState) async throws {
        guard let file = options.stateFile else { return }
        let key = Self.stateKey(of: address)
        do {
            try await perform { _ in try file.store(state, of: key) }
        } catch let error as StateFileError {
            // The presentation can be played nevertheless.
            options.reportProblem(error.message)
        }
    }

    /// Returns the resources without the local files that a remote manifest names, whatever its base URLs are.
    private static func permitted(
        _ resources: [AddressedResource],
        in presentation: MediaPresentation
    ) -> [AddressedResource] {
        guard presentation.address?.isHTTP == true else { return resources }
        return resources.filter { $0.address.filePath == nil }
    }

    private func loadIndexes(
        _ resources: [AddressedResource],
        _ indexes: inout PresentationSource.Indexes,
        _ loader: ResourceLoader
    ) async throws {
        // Indexes of former versions of the manifest are not needed anymore.
        let wanted = Set(resources)
        indexes.segments = indexes.segments.filter { wanted.contains($0.key) }
        indexes.failures = indexes.failures.filter { wanted.contains($0.key) }
        var loaded = indexes
        // What was loaded before a failure is not loaded again by the next request.
        defer { state.withLock { $0.indexes = loaded } }
        try await PresentationSource(loader: loader, options: options).load(resources, into: &loaded)
        indexes = loaded
    }

    private func failure(
        _ error: TranslationError,
        _ indexes: PresentationSource.Indexes,
        _ presentation: MediaPresentation
    ) -> TransportError {
        let address = presentation.address ?? address
        switch error {
        case .nothingToPlay:
            // An index that cannot be loaded explains more than the representation that lacks it.
            if let cause = indexes.failures.values.first { return cause }
            return TransportError(.untranslatable, "\(error)", address: address, cause: error)
        case .notAvailableYet: return TransportError(.untranslatable, "\(error)", address: address, cause: error)
        case .tooLarge: return TransportError(.tooLarge, "\(error)", address: address, cause: error)
        }
    }

    private func perform<Output: Sendable>(
        _ work: @escaping @Sendable (_ check: () throws -> Void) throws -> Output
    ) async throws -> Output {
        guard let workers = options.workers else { return try work { try Task.checkCancellation() } }
        return try await workers.perform(work)
    }
}
