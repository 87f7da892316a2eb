import MediaTiming
import PlaybackReporting

/// The loads of the steering manifest of an item, and the changes of the pathway that follow from it.
enum PathwaySteering {
    /// Loads the steering manifest if it is due.
    static func loadManifest(_ plan: inout FetchPlan, _ sink: inout EffectSink) {
        let pathwayID = plan.catalog.pathwayID(of: plan.tracks.main.source)
        let throughput = plan.catalog.chooser.throughput
        guard
            let load = plan.catalog.steering.beginLoad(
                at: sink.now,
                pathwayID: pathwayID,
                throughput: throughput,
                nextRequest: { sink.nextRequest() }
            )
        else { return }
        sink.add(.begin(.loadSteeringManifest(request: load.request, load.address)))
    }

    /// Applies a steering manifest, or the failure to load it, which never ends playback.
    ///
    /// The next segment is fetched from the pathway that the manifest prefers.
    static func receive(
        _ result: Result<SteeringManifest, StreamingError>,
        for request: Int,
        _ plan: inout FetchPlan,
        _ sink: inout EffectSink
    ) {
        if case .failure(let error) = result { sink.reportRecovered(error) }
        guard let manifest = plan.catalog.steering.endLoad(request, with: result, at: sink.now) else { return }
        plan.catalog.addPathways(manifest.clones)
        plan.catalog.choosePathway(at: sink.now)
        // The variant of the next segment is selected again, among those of the pathway, unless it replaces one that failed.
        if plan.tracks.main.failures.tried.isEmpty { plan.tracks.main.isVariantDecided = false }
        sink.noteChange()
    }

    /// Reports a change of the pathway from which the variant is fetched.
    static func reportPathway(_ plan: inout FetchPlan, _ sink: inout EffectSink) {
        guard plan.catalog.steering.isActive, let current = plan.catalog.pathwayID(of: plan.tracks.main.source),
            let former = plan.catalog.steering.notePathway(current)
        else { return }
        sink.report(.pathwayChanged(from: former, to: current))
    }
}
