import MediaTiming
public import MediaTransport
public import ResourceAddressing
import StreamingEngine
import Synchronization

/// Media at an address: a stream or a file, of which nothing is known before it is loaded.
///
/// Making one does no I/O and says nothing of whether it can be played. One asset can feed any number of items, and a
/// `DownloadTask`, at once. All of it can be used from any task.
public final class Asset: LoadableAsset {
    /// Where it is.
    public let address: ResourceAddress
    /// How it is reached.
    public let options: AssetOptions
    /// The world that it lives in.
    public let environment: Player.Environment

    /// How all of it is loaded, by items and by downloads; from ``Player/Environment/makeLoading``.
    public let loading: ResourceLoading

    private let hub = Hub<AssetLoading, Never>(AssetLoading())
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Makes an asset.
    ///
    /// - Parameters:
    ///   - address: Where it is: `http`, `https`, or `file` for a file or a downloaded package.
    ///   - options: How it is reached.
    ///   - environment: The world that it lives in.
    public init(
        _ address: ResourceAddress,
        options: AssetOptions = AssetOptions(),
        environment: Player.Environment = .standard
    ) {
        self.address = address
        self.options = options
        self.environment = environment
        loading = options.limiting(environment.makeLoading(address, options), of: address, environment.network)
    }

    /// Makes the asset of a file or a downloaded package.
    ///
    /// - Parameters:
    ///   - filePath: An absolute path.
    ///   - environment: The world that it lives in.
    public convenience init(filePath: String, environment: Player.Environment = .standard) {
        self.init(ResourceAddress(filePath: filePath), environment: environment)
    }

    deinit {
        hub.finish()
        task.withLock { $0 }?.cancel()
    }

    var request: AssetRequest { AssetRequest(address: address, options: options, loading: loading) }

    /// What is stored of it; `nil` where nothing is.
    ///
    /// Looks on the disk each time, not on the network.
    public var assetCache: AssetCache? { environment.findCache(address) }
}

extension Asset {
    /// Loads a property; at once where it is loaded already.
    ///
    /// All properties come from one look at the asset, which several callers share. What failed stays so.
    ///
    /// - Parameter property: What to load.
    /// - Returns: Its value.
    /// - Throws: ``PlayerError``; `CancellationError` where the caller was cancelled. The look goes on while anybody waits.
    public func load<Value>(_ property: AssetProperty<Value>) async throws -> Value {
        property.value(try await inspection([property.key]))
    }

    /// Loads two properties with one look.
    ///
    /// - Parameters:
    ///   - first: One.
    ///   - second: The other.
    /// - Returns: Their values.
    /// - Throws: ``PlayerError``; `CancellationError` where the caller was cancelled.
    public func load<First, Second>(
        _ first: AssetProperty<First>,
        _ second: AssetProperty<Second>
    ) async throws -> (First, Second) {
        let inspection = try await inspection([first.key, second.key])
        return (first.value(inspection), second.value(inspection))
    }

    /// Loads properties by their names, to be read from ``status(of:)-(AssetKey)``.
    ///
    /// - Parameter keys: What to load.
    /// - Throws: ``PlayerError``; `CancellationError` where the caller was cancelled.
    public func loadValues(for keys: [AssetKey]) async throws {
        _ = try await inspection(keys)
    }

    /// How far a property is loaded.
    public func status(of key: AssetKey) -> AssetKeyStatus { hub.state.status(of: key) }

    /// The value of a property that was loaded; `nil` where it was not.
    public func loadedValue<Value>(_ property: AssetProperty<Value>) -> Value? {
        let loading = hub.state
        guard case .loaded = loading.status(of: property.key) else { return nil }
        return loading.inspection.map(property.value)
    }

    /// Gives up what is being loaded: whoever waits gets ``PlayerError/Code/cancelled``.
    public func cancelLoading() {
        perform(hub.update { loading, _ in loading.cancel() })
    }

    /// Whether it can be played: first `false`, unless that is known, and then as it turns out.
    ///
    /// Watching loads nothing; ``load(_:)`` does.
    public var playability: ValueUpdates<Bool> {
        ValueUpdates(StateUpdates<AssetLoading>(hub) { $0 }) { loading in
            guard case .loaded = loading.status(of: .isPlayable) else { return false }
            return loading.inspection.map { $0.obstacle == nil } ?? false
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
            perform(hub.update { loading, _ in loading.leave(run) })
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
    /// Whether both are one.
    public static func == (left: Asset, right: Asset) -> Bool { left === right }
    /// Tells it from others.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
