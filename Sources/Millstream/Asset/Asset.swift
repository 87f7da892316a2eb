import AssetStorage
import MediaTiming
public import MediaTransport
import PresentationLoading
public import ResourceAddressing
import StreamingEngine
import Synchronization

/// A stream or a file at an address, whose properties are loaded asynchronously.
///
/// Creating an asset does no I/O and does not determine whether it can be played. One asset can be used by any number
/// of items and by a `DownloadTask` at the same time, and from any task.
public final class Asset: LoadableAsset {
    /// The address of the playlist, file or downloaded package.
    public let address: ResourceAddress
    /// The options with which the asset is loaded.
    public let options: AssetOptions
    /// The environment that provides loading, decoding and time.
    public let environment: Player.Environment

    /// The loading of all resources of the asset, for items and downloads alike; created by
    /// ``Player/Environment/makeLoading`` and limited by ``options``.
    public let loader: ResourceLoader

    /// The resource loader, whose delegate loads the resources with a custom URL scheme.
    ///
    /// Set the delegate before the first property of the asset is loaded.
    public let resourceLoader: AssetResourceLoader

    private let hub = Hub<AssetLoading, Never>(AssetLoading())
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Creates an asset for an address.
    ///
    /// - Parameters:
    ///   - address: The address of the media: `http`, `https`, `file` for a file or a downloaded package, or a custom
    ///     scheme for which ``resourceLoader`` has a delegate.
    ///   - options: The options for loading the asset.
    ///   - environment: The environment that provides loading, decoding and time.
    public init(
        _ address: ResourceAddress,
        options: AssetOptions = AssetOptions(),
        environment: Player.Environment = .standard
    ) {
        self.address = address
        self.options = options
        self.environment = environment
        let resourceLoader = AssetResourceLoader(originalSchemes: options.originalSchemes)
        self.resourceLoader = resourceLoader
        // Header fields and cookies are for the origin with the original scheme.
        let loading = environment.makeLoading(resourceLoader.originalAddress(of: address) ?? address, options)
        let loader = options.restricting(
            loading.wrappingTransport { DelegatedTransport($0, loader: resourceLoader, time: environment.time) },
            of: address,
            network: environment.network
        )
        let translating =
            options.translatesDASH
            ? loader.translatingPresentations(in: PresentationStore(options: environment.presentationOptions)) : loader
        // A download of this asset shares its requests and stored files with the players, and takes the place of what
        // the library had stored before.
        self.loader = translating.wrappingTransport { base in
            let overlaid = OverlaidTransport(base)
            if let library = options.library, address.filePath == nil {
                overlaid.setOverlay(LibrarySourceTransport(library, source: address, origin: base))
            }
            return overlaid
        }
    }

    /// Creates an asset that shares the loader of another one, such as a `DownloadTask`.
    ///
    /// - Parameters:
    ///   - asset: The asset whose address and loader are used.
    ///   - environment: The environment that provides decoding and time.
    public init(sharing asset: some LoadableAsset, environment: Player.Environment = .standard) {
        address = asset.address
        var options = AssetOptions()
        options.library = (asset as? Asset)?.options.library
        self.options = options
        self.environment = environment
        loader = asset.loader
        resourceLoader = (asset as? Asset)?.resourceLoader ?? AssetResourceLoader()
    }

    /// Creates an asset for a file or a downloaded package.
    ///
    /// - Parameters:
    ///   - filePath: An absolute path.
    ///   - environment: The environment that provides loading, decoding and time.
    public convenience init(filePath: String, environment: Player.Environment = .standard) {
        self.init(ResourceAddress(filePath: filePath), environment: environment)
    }

    deinit {
        hub.finish()
        task.withLock { $0 }?.cancel()
    }

    var request: AssetRequest { AssetRequest(address: address, options: options, loader: loader) }

    /// The stored part of the asset; `nil` if nothing is stored.
    ///
    /// The asset is a downloaded package, or its URL is the source of a download in ``AssetOptions/library``. Each
    /// access reads the file system, never the network.
    public var assetCache: AssetCache? {
        if let cache = environment.findCache(address) { return cache }
        return options.library.flatMap { AssetCache(ofSource: address, inLibraryAt: $0) }
    }
}

extension Asset {
    /// Loads a property of the asset; returns at once if it is already loaded.
    ///
    /// All properties come from one inspection of the asset, which concurrent callers share. A property that failed to
    /// load is not loaded again.
    ///
    /// - Parameter property: The property to load.
    /// - Returns: The value of the property.
    /// - Throws: ``PlayerError``; `CancellationError` if the calling task was canceled. The inspection continues while
    ///   other callers wait for it.
    public func load<Value>(_ property: AssetProperty<Value>) async throws -> Value {
        property.value(try await inspection([property.key]))
    }

    /// Loads two properties with one inspection of the asset.
    ///
    /// - Parameters:
    ///   - first: The first property.
    ///   - second: The second property.
    /// - Returns: The values of both properties.
    /// - Throws: ``PlayerError``; `CancellationError` if the calling task was canceled.
    public func load<First, Second>(
        _ first: AssetProperty<First>,
        _ second: AssetProperty<Second>
    ) async throws -> (First, Second) {
        let inspection = try await inspection([first.key, second.key])
        return (first.value(inspection), second.value(inspection))
    }

    /// Loads properties by their keys; ``status(of:)-(AssetKey)`` then returns the result of each.
    ///
    /// - Parameter keys: The keys of the properties.
    /// - Throws: ``PlayerError``; `CancellationError` if the calling task was canceled.
    public func loadValues(for keys: [AssetKey]) async throws {
        _ = try await inspection(keys)
    }

    /// Returns the loading status of a property.
    public func status(of key: AssetKey) -> AssetKeyStatus { hub.state.status(of: key) }

    /// Returns the value of a property; `nil` if it is not loaded.
    public func loadedValue<Value>(_ property: AssetProperty<Value>) -> Value? {
        let loading = hub.state
        guard case .loaded = loading.status(of: property.key) else { return nil }
        return loading.inspection.map(property.value)
    }

    /// Cancels the loading of all properties; callers that wait get ``PlayerError/Code/cancelled``.
    public func cancelLoading() {
        perform(hub.update { loading, _ in loading.cancel() })
    }

    /// A sequence of Boolean values that indicate whether the asset can be played: `false` until that is known.
    ///
    /// Observing the sequence loads nothing; call ``load(_:)`` for that.
    public var playability: ValueUpdates<Bool> {
        ValueUpdates(StateUpdates<AssetLoading>(hub) { $0 }) { loading in
            guard case .loaded = loading.status(of: .isPlayable) else { return false }
            return loading.inspection.map { $0.error == nil } ?? false
        }
    }

    private func inspection(_ keys: [AssetKey]) async throws -> AssetInspection {
        try Task.checkCancellation()
        let (action, run) = hub.update { loading, _ in loading.load(keys) }
        perform(action)
        if let run {
            for await loading in StateUpdates<AssetLoading>(hub, { $0 }) where !loading.isRunning(run) {
                return try Self.inspection(loading, keys)
            }
            perform(hub.update { loading, _ in loading.removeWaiter(run) })
            throw CancellationError()
        }
        return try Self.inspection(hub.state, keys)
    }

    private static func inspection(_ loading: AssetLoading, _ keys: [AssetKey]) throws -> AssetInspection {
        if let inspection = loading.inspection { return inspection }
        for key in keys {
            if case .failed(let error) = loading.status(of: key) { throw error }
        }
        throw PlayerError(.cancelled, "Loading was cancelled.")
    }

    private func perform(_ action: AssetLoading.Action) {
        switch action {
        case .none: break
        case .stop: task.withLock { $0.take() }?.cancel()
        case .inspect(let run):
            let new = launch(on: environment.time) { [hub, request, environment] in
                let result: Result<AssetInspection, PlayerError>
                do {
                    result = .success(try await environment.inspect(request, environment.canDecode))
                } catch let error as PlayerError {
                    result = .failure(error)
                } catch {
                    result = .failure(
                        PlayerError(.notLoaded, "\(error)", address: request.address, cause: error)
                    )
                }
                hub.update { loading, _ in loading.finish(run, result) }
            }
            let isWanted = hub.state.isRunning(run)
            if isWanted { task.withLock { $0 = new } } else { new.cancel() }
        }
    }
}

extension Asset: Hashable {
    /// Returns a Boolean value that indicates whether both are the same object.
    public static func == (left: Asset, right: Asset) -> Bool { left === right }
    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
