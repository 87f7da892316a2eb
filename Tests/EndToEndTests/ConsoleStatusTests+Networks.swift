import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests the networks of the console, and what it shows of them during playback.
extension ConsoleStatusTests {
    /// The networks of streams that other players play are changed on the page.
    @Test(.timeLimit(.minutes(10))) func networksOfOtherPlayersAreListedAndChanged() async throws {
        try await onStage { stage in
            let source = stage.origin.address("ts/multivariant.m3u8")
            let url = try #require(URL(string: "\(stage.address)play.m3u8?url=\(source)&conditions=3G"))
            _ = try await URLSession.shared.data(from: url)
            let row = "#networks-list li:nth-child(2)"
            try await eventually("the stream is listed") {
                try await stage.page.isTrue("document.querySelector('\(row)') !== null")
            }
            let text = try await stage.page.text("document.querySelector('\(row)').textContent")
            #expect(text.contains("Five variants") && text.contains("conditions=3G"), "\(text)")
            try await stage.page.choose("EDGE", in: "\(row) select")
            try await stage.page.choose("DSL", in: "#networks-list li:first-child select")
            try await eventually("the server has changed both networks") {
                try await stage.page.text(
                    """
                    (async () => {
                      const report = await (await fetch('/api/conditions')).json()
                      return [report.shared, ...report.links.map(l => l.conditions)].join()
                    })()
                    """
                ) == "DSL,EDGE"
            }
        }
    }

    /// The network conditions change during playback, without a reload.
    ///
    /// The playback URL for other players is that of the selected ones, and has none of the server, which the stream follows.
    @Test(.timeLimit(.minutes(10))) func networkConditionsChangeDuringPlayback() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            _ = try await stage.page.evaluate(
                "video.addEventListener('loadstart', () => video.dataset.reloaded = 'yes')"
            )
            for conditions in ["WiFi", "EDGE", "100% Loss"] {
                try await stage.page.choose(conditions, in: "#network")
                try await eventually("the server has changed the link to \(conditions)") {
                    let links = try await stage.page.text(
                        "(async () => (await (await fetch('/api/conditions')).json()).links.map(l => l.conditions).join())()"
                    )
                    return links == conditions
                }
            }
            // Behind what is buffered, playback waits, and the page says why.
            _ = try await stage.page.evaluate("void (video.currentTime = 60)")
            try await eventually("the page says that playback waits") {
                try await stage.page.text("document.querySelector('#waiting-note').textContent").contains("100% Loss")
            }
            try await stage.page.choose("Off", in: "#network")
            for time in [20.0, 50.0] { try await expectFrame(time, shows: time, stage.video) }
            let addresses =
                "document.querySelector('#playback-url').value + ' ' + document.querySelector('#save-playlist').href"
            let named = try await stage.page.text(addresses)
            #expect(named.matches(of: /conditions=Off/).count == 2, "\(named)")
            try await stage.page.choose("", in: "#network")
            try await eventually("the address names no conditions") {
                try await !stage.page.text(addresses).contains("conditions=")
            }
            try await stage.page.choose("DSL", in: "#networks-list li:first-child select")
            try await eventually("the stream follows the server") { try await conditions(stage) == "DSL" }
            let selected = "document.querySelector('#network').selectedOptions[0].text"
            try await eventually("the menu shows it") {
                try await stage.page.text(selected) == "Server default (DSL)"
            }
            // What is changed in the list of networks is shown in the menu of the player.
            try await stage.page.choose("WiFi", in: "#networks-list li:nth-child(2) select")
            try await eventually("the menu shows the other conditions") {
                try await stage.page.text(selected) == "WiFi"
            }
            #expect(try await stage.page.text(addresses).contains("conditions=WiFi"))
            #expect(try await stage.page.isTrue("video.dataset.reloaded === undefined"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func chartsShowThePlayback() async throws {
        try await onStage { stage in
            // The hint about the empty field ends when another stream is played.
            try await stage.page.click("#open-url [type=submit]")
            #expect(try await stage.page.isTrue("!document.querySelector('#open-url-error').hidden"))
            try await play("ts", on: stage)
            #expect(try await stage.page.isTrue("document.querySelector('#open-url-error').hidden"))
            // The page requests nothing that does not exist, which the browser would report as an error.
            let failed =
                "performance.getEntriesByType('resource').filter(e => e.responseStatus >= 400).map(e => e.name).join()"
            #expect(try await stage.page.text(failed).isEmpty)
            try await eventually("the charts show buffer, throughput and picture") {
                let text = try await stage.page.text("document.querySelector('#charts-summary').textContent")
                return text.contains(/Buffer: [1-9][0-9.]* s, Throughput: [0-9.]+ Mbit/)
                    && text.contains(/Picture height: [0-9]+ px/)
                    && text.contains(/Dropped frames: [0-9]+/) && !text.contains("Behind live")
            }
            // While nothing is loaded, there is no present throughput.
            _ = try await stage.page.evaluate("void video.pause()")
            try await eventually("the throughput is the last one") {
                try await stage.page.text("document.querySelector('#charts-summary').textContent")
                    .contains(/Throughput: – \(last [0-9.]+ Mbit\/s\)/)
            }
            // The highest values are beside the curves, which end before them.
            let isBeside = """
                (() => {
                  const canvas = document.querySelector('#charts-canvas')
                  const color = document.createElement('canvas').getContext('2d')
                  color.fillStyle = getComputedStyle(canvas).getPropertyValue('--accent')
                  color.fillRect(0, 0, 1, 1)
                  const [red, green, blue] = color.getImageData(0, 0, 1, 1).data
                  const scale = devicePixelRatio || 1
                  const width = Math.floor(44 * scale)
                  const {data} = canvas.getContext('2d').getImageData(canvas.width - width, 0, width, canvas.height)
                  for (let i = 0; i < data.length; i += 4) {
                    if (data[i + 3] > 200 && data[i] === red && data[i + 1] === green && data[i + 2] === blue) return false
                  }
                  return true
                })()
                """
            #expect(try await stage.page.isTrue(isBeside))
            // The charts are drawn: some points of the canvas have the color of the lines.
            let isDrawn = """
                (() => {
                  const canvas = document.querySelector('#charts-canvas')
                  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
                  return canvas.height >= 180 && data.filter((byte, index) => index % 4 === 3 && byte > 0).length > 1000
                })()
                """
            #expect(try await stage.page.isTrue(isDrawn))
        }
    }
}
