import StreamingEngine

/// The source of the pipelines of one player, which share the outputs of the player.
struct PipelineSource: Sendable {
    let environment: Player.Environment
    #if Playback
    /// The outputs of the player; `nil` if items are not decoded, or if the application provides the pipelines.
    let outputs: PlayerOutputs?
    #endif

    /// Creates the source of the pipelines of a new player.
    init(_ environment: Player.Environment) {
        self.environment = environment
        #if Playback
        outputs =
            switch environment.outputs {
            case _ where environment.makePipeline != nil: nil
            case .none: nil
            case .ofEachPlayer: PlayerOutputs()
            case .shared(let outputs): outputs
            }
        #endif
    }

    /// Creates the pipeline of an item.
    func makePipeline() async throws -> any MediaPipeline {
        if let makePipeline = environment.makePipeline { return try await makePipeline() }
        #if Playback
        if let outputs { return try outputs.makePipeline(in: environment) }
        #endif
        return NonDecodingPipeline(time: environment.time)
    }
}
