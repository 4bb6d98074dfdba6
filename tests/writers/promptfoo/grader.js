// Chooses the output whose number stands behind PICK in what it is shown; else says something else.
class Grader {
  constructor(o) {}
  id() { return 'org:judge'; }
  async callApi(prompt, context) {
    const m = prompt.match(/PICK(\d)/);
    return { output: m ? m[1] : 'neither', tokenUsage: { total: 1, prompt: 1, completion: 0, numRequests: 1 } };
  }
}
module.exports = Grader;
